"""The methods that the paper compares with, as estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
import torch
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.sparse import issparse

from rankwise.checks import require_count, require_positive
from rankwise.estimators import PApAtKRanker
from rankwise.estimators.base import Calibration
from rankwise.estimators.papk.descent import Found, Gradient, Problem, RiskGradient
from rankwise.objectives import PairwiseAUC
from rankwise.pairs import Hinge
from reproductions.papk_solvers.gradients import (
    LogisticGradient,
    SelectedGradient,
    partial_auc_gradient,
    precision_gradient,
)
from reproductions.papk_solvers.select import select_fully

Array = NDArray[np.float64]


class DescentRanker(PApAtKRanker):
    """Linear ranker by the descent of ``PApAtKRanker`` on the loss of a subclass. Abstract.

    Parameters are those of ``PApAtKRanker`` without ``form``.
    """

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
        random_state: int | RandomState | None = None,
    ) -> None:
        super().__init__(
            k,
            "avg",
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


class StructuralAUCRanker(DescentRanker):
    """The structural surrogate of AUC, Eq. 4: the mean hinge over all pairs of a user.

    The maximum over the orderings π is taken entry by entry, since 1[s_i − 1 ≤ s_j] is one.
    """

    def _gradient(self) -> Gradient:
        return RiskGradient(PairwiseAUC(Hinge(1.0)))


class PartialAUCAtKRanker(DescentRanker):
    """SVM-pAUC: all positives × the k highest negatives   (Narasimhan and Agarwal 2017).

    The same surrogate as theirs by subgradients instead of cutting planes.
    """

    def _gradient(self) -> Gradient:
        return partial_auc_gradient(self.k)


class PrecisionAtKRanker(DescentRanker):
    """SGD@k-avg: the average surrogate of precision@k   (Kar, Narasimhan and Jain 2015).

    Of a user with n⁺ < k positives the k − n⁺ highest negatives cost nothing: precision@k does not
    see them. ``batch_users`` makes it stochastic.
    """

    def _gradient(self) -> Gradient:
        return precision_gradient(self.k)


class LogisticAtKRanker(DescentRanker):
    """Logistic regression on all rows by the same descent, stopped and chosen by Micro-pAp@k."""

    intercept = True

    def _gradient(self) -> Gradient:
        return LogisticGradient()


class SelectPApAtKRanker(DescentRanker):
    """Select-pAp@k: cross-entropy on the top of every user   (Budhiraja et al. 2020, Algorithm 1).

    Each iteration chooses a pool of the β highest positives and k highest negatives of every user
    and minimizes the cross-entropy of the pool, with the ridge λ‖w‖².

    inner
        Steps η/√(t+1) on one pool before the next is chosen. None, as published: until convergence.
        η then plays no part, ``max_iter`` and ``n_iter_`` count pools, and there is no ``radius``.
    inner_tolerance
        Largest entry of the gradient at which a pool has converged.

    All users are in every step.
    """

    intercept = True

    def __init__(
        self,
        k: int = 10,
        eta: float = 0.1,
        lam: float = 1e-3,
        radius: float | None = None,
        *,
        start: Literal["zero", "log_loss"] = "zero",
        alpha: float = 1e-3,
        inner: int | None = None,
        inner_tolerance: float = 1e-6,
        max_iter: int = 300,
        patience: int = 20,
        tolerance: float = 1e-6,
        standardize: bool = True,
        threshold: str | float = 0.5,
        calibration: Calibration = "sigmoid",
        validation_fraction: float = 0.2,
        random_state: int | RandomState | None = None,
    ) -> None:
        super().__init__(
            k,
            eta,
            lam,
            radius,
            start=start,
            alpha=alpha,
            max_iter=max_iter,
            patience=patience,
            tolerance=tolerance,
            standardize=standardize,
            threshold=threshold,
            calibration=calibration,
            validation_fraction=validation_fraction,
            random_state=random_state,
        )
        self.inner = inner
        self.inner_tolerance = inner_tolerance

    def _check_options(self) -> None:
        self._require(require_count, "inner")
        require_positive("inner_tolerance", self.inner_tolerance)
        if self.inner is None and self.radius is not None:
            raise ValueError(
                f"radius is for a given inner, got radius={self.radius!r} and inner=None; "
                "pass inner, or leave radius out"
            )
        super()._check_options()

    def _gradient(self) -> Gradient:
        assert self.inner is not None
        return SelectedGradient(self.k, self.inner)

    def _search(self, problem: Problem, grid: Sequence[tuple[float, float]]) -> Found:
        if self.inner is not None:
            return super()._search(problem, grid)
        start = None
        if self.start == "log_loss":
            start = problem.logistic_start(alpha=self.alpha, unit=False)
        return select_fully(
            problem,
            self.k,
            np.array([lam for _, lam in grid]),
            pools=self.max_iter,
            patience=self.patience,
            tolerance=self.inner_tolerance,
            start=start,
        )


class GreedyPApAtKRanker(PApAtKRanker):
    """Greedy-pAp@k: columns added one by one   (Ricamato and Tortorella 2011).

    Each is added at the angle that raises Micro-pAp@k of the training users most; the users held
    out choose the number of columns.

    angles
        Angles tried on each side of leaving a column out.
    max_columns
        Maximum number of columns; None: all. ``n_iter_`` is the number kept.

    There is no η and no λ, and :meth:`cv` has one setting.
    """

    def __init__(
        self,
        k: int = 10,
        *,
        angles: int = 4,
        max_columns: int | None = None,
        standardize: bool = True,
        threshold: str | float = 0.5,
        calibration: Calibration = "sigmoid",
        validation_fraction: float = 0.2,
        random_state: int | RandomState | None = None,
    ) -> None:
        super().__init__(
            k,
            standardize=standardize,
            threshold=threshold,
            calibration=calibration,
            validation_fraction=validation_fraction,
            random_state=random_state,
        )
        self.angles = angles
        self.max_columns = max_columns

    def _check_options(self) -> None:
        require_count("angles", self.angles)
        if self.max_columns is not None:
            require_count("max_columns", self.max_columns)
        super()._check_options()

    def _search(self, problem: Problem, grid: Sequence[tuple[float, float]]) -> Found:
        return combine_greedily(problem, self.k, self.angles, self.max_columns)

    def _with(self, eta: float, lam: float) -> Self:
        return self


def combine_greedily(problem: Problem, k: int, angles: int, most: int | None) -> Found:
    """Combine columns by the heuristic of Ricamato and Tortorella (2011), for Micro-pAp@k.

    Columns come in the order of what each ranks by itself, in its better direction. The next one z
    turns the score f so far into cos θ · f + sin θ · z, both of spread 1, with the best of
    2·``angles`` + 1 angles θ in (−π/2, π/2); θ = 0 leaves z out and wins ties. The number of
    columns with the best metric is kept, at most ``most``.
    """
    columns = problem.design.columns
    alone = _gains(problem, k, np.concatenate([np.eye(columns), -np.eye(columns)], axis=1))
    sign = np.where(alone[:columns] >= alone[columns:], 1.0, -1.0)
    order = np.argsort(-alone.reshape(2, columns).max(0), kind="stable")[:most]
    # From 0 to a quarter turn, both ways; the first of equals wins.
    turns = np.arange(1, angles + 1) * (np.pi / 2 / (angles + 1))
    theta = np.concatenate([[0.0], np.stack([turns, -turns], 1).ravel()])
    weights = np.zeros(columns)
    weights[order[0]] = sign[order[0]]
    path = [weights]
    for column in order[1:]:
        spread = problem.users.spread(_scores(problem, path[-1][:, None])[:, 0])
        added = np.zeros((columns, len(theta)))
        added[column] = np.sin(theta)
        candidates = np.cos(theta) * (path[-1] / spread)[:, None] + added
        path.append(candidates[:, int(np.argmax(_gains(problem, k, candidates)))])
    steps = np.stack(path, axis=1)
    values = problem.evaluate(steps)
    best = int(np.argmax(values))
    return Found(steps[:, [best]], np.zeros(1), values[[best]], np.array([best + 1]))


def _scores(problem: Problem, weights: Array) -> Array:
    matrix = problem.design.matrix
    if issparse(matrix) or weights.shape[1] == 1:
        return np.asarray(matrix @ weights, dtype=np.float64)
    used = np.flatnonzero(weights.any(1))
    return np.asarray(matrix[:, used] @ weights[used], dtype=np.float64)


def _gains(problem: Problem, k: int, weights: Array, block: int = 16) -> Array:
    parts = []
    for start in range(0, weights.shape[1], block):
        scores = _scores(problem, weights[:, start : start + block])
        parts.append(problem.users.gain(torch.from_numpy(np.ascontiguousarray(scores.T)), k))
    return torch.cat(parts).numpy()
