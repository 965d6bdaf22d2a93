"""Algorithm 1 as an estimator, and the ranker of pAp@k."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone

from rankwise.checks import require_count, require_one_of, require_positive
from rankwise.estimators.base import Calibration
from rankwise.estimators.papk.descent import Found, Plan, Problem, descend
from rankwise.estimators.papk.gradients import Gradient, RiskGradient
from rankwise.estimators.papk.grouped import GroupedRanker
from rankwise.estimators.papk.start import logistic_start
from rankwise.estimators.threshold import Rule
from rankwise.objectives import PApAtK

__all__ = ["DescentRanker", "PApAtKRanker"]


class DescentRanker(GroupedRanker):
    """A linear ranker by subgradient descent on the mean over users. Abstract.

    w goes from w₀ by η/√(t+1) against a subgradient, with the ridge λ‖w‖²   (Algorithm 1).

    eta, lam
        η and λ. :meth:`cv` chooses both.
    start
        ``"zero"``, as in the paper, or ``"log_loss"``: w₀ is the logistic solution with the ridge
        ``alpha``/2 · ‖w‖², for hinges scaled to scores of spread 1.
    radius
        Project w on the ball of this radius after every step; None: do not.
    batch_users
        How many users each step sees, in turn; None: all.
    max_iter
        Most steps. Every fifth is judged, and the last.
    patience, tolerance
        Stop after so many looks that were no better, or (all users in every step) when w moves by
        less than this share of its length.

    For the other parameters see :class:`~rankwise.estimators.papk.GroupedRanker`.
    """

    intercept: ClassVar[bool] = False  # whether the loss is about more than differences of scores

    def __init__(
        self,
        k: int = 10,
        eta: float = 0.1,
        lam: float = 1e-3,
        radius: float | None = None,
        *,
        start: Literal["zero", "log_loss"] = "zero",
        alpha: float = 1e-3,
        batch_users: int | None = None,
        max_iter: int = 300,
        patience: int = 20,
        tolerance: float = 1e-6,
        standardize: bool = True,
        threshold: str | float = 0.5,
        calibration: Calibration = "sigmoid",
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            k,
            standardize=standardize,
            threshold=threshold,
            calibration=calibration,
            validation_fraction=validation_fraction,
            random_state=random_state,
        )
        self.eta = eta
        self.lam = lam
        self.radius = radius
        self.start = start
        self.alpha = alpha
        self.batch_users = batch_users
        self.max_iter = max_iter
        self.patience = patience
        self.tolerance = tolerance

    @abstractmethod
    def _gradient(self) -> Gradient:
        """What one descent follows."""

    def _check_options(self) -> Rule:
        for name in ("max_iter", "patience"):
            require_count(name, getattr(self, name))
        require_positive("eta", self.eta)
        require_one_of("start", self.start, ("zero", "log_loss"))
        for name in ("lam", "alpha", "tolerance"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be a number >= 0, got {getattr(self, name)!r}")
        if self.radius is not None:
            require_positive("radius", self.radius)
        if self.batch_users is not None:
            require_count("batch_users", self.batch_users)
        return super()._check_options()

    def _setting(self) -> tuple[float, float]:
        return self.eta, self.lam

    def _with(self, eta: float, lam: float) -> Self:
        other: Self = clone(self).set_params(eta=eta, lam=lam)
        return other

    def _search(self, problem: Problem, grid: Sequence[tuple[float, float]]) -> Found:
        etas, lams = np.array(grid, dtype=np.float64).T
        start = None
        if self.start == "log_loss":
            unit = not self.intercept
            start = logistic_start(problem.design, problem.users, alpha=self.alpha, unit=unit)
        plan = Plan(
            steps=self.max_iter,
            patience=self.patience,
            tolerance=self.tolerance,
            radius=self.radius,
            batch_users=self.batch_users,
            intercept=self.intercept,
            start=start,
        )
        return descend(problem, self._gradient(), etas, lams, plan)


class PApAtKRanker(DescentRanker):
    """GD-pAp@k: a linear ranker on a surrogate of pAp@k   (pAp@k, Algorithms 1 and 2).

    surrogate
        ``"avg"`` and ``"max"`` are convex; ``"ts"`` and ``"ramp"`` are not (``"ramp"`` is the
        tightest bound of the risk), and descent on them ends in a local minimum. See
        :class:`~rankwise.objectives.PApAtK`.

    For all other parameters see :class:`~rankwise.estimators.papk.DescentRanker`.
    """

    def __init__(
        self,
        k: int = 10,
        surrogate: Literal["avg", "max", "ts", "ramp"] = "avg",
        eta: float = 0.1,
        lam: float = 1e-3,
        radius: float | None = None,
        *,
        start: Literal["zero", "log_loss"] = "zero",
        alpha: float = 1e-3,
        batch_users: int | None = None,
        max_iter: int = 300,
        patience: int = 20,
        tolerance: float = 1e-6,
        standardize: bool = True,
        threshold: str | float = 0.5,
        calibration: Calibration = "sigmoid",
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            k,
            eta,
            lam,
            radius,
            start=start,
            alpha=alpha,
            batch_users=batch_users,
            max_iter=max_iter,
            patience=patience,
            tolerance=tolerance,
            standardize=standardize,
            threshold=threshold,
            calibration=calibration,
            validation_fraction=validation_fraction,
            random_state=random_state,
        )
        self.surrogate = surrogate

    def _check_options(self) -> Rule:
        require_one_of("surrogate", self.surrogate, ("avg", "max", "ts", "ramp"))
        return super()._check_options()

    def _gradient(self) -> Gradient:
        return RiskGradient(PApAtK(self.k, self.surrogate, score_scale=1.0))
