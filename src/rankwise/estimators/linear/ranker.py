"""The linear model as an estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits

from rankwise.checks import require_count, require_one_of, require_positive
from rankwise.estimators.base import Calibration, Ranker, State
from rankwise.estimators.data import Floats, Part, Training
from rankwise.estimators.linear.design import Design
from rankwise.estimators.linear.fixed import fixed_at, stateless
from rankwise.estimators.linear.search import search
from rankwise.estimators.names import is_graded, is_log_loss
from rankwise.estimators.threshold import Rule
from rankwise.estimators.time_limit import part_of_time
from rankwise.objectives import AveragePrecision

__all__ = ["LinearRanker"]

_Vector = NDArray[np.float64]


class LinearRanker(Ranker):
    """Scores x·w, w by L-BFGS on the objective of all rows at once, from the logistic solution.

    The same rows and ``random_state`` give the same model. A logistic regression with the ridge
    ``alpha`` is fitted first; from there the objective is minimized with a ridge toward that
    solution, ``proximity`` (scores are in units of their spread, where the objective is). Where
    the result ranks the rows held out worse than its start by the metric, the start is kept: with
    many columns and few positives it would fit the order of the training rows only.

    alpha
        α/2 · ‖w‖² beside the mean log-loss, for standardized columns.
    proximity
        λ/2 · ‖w − w₀‖² beside the objective, w₀ its start.
    start
        ``"log_loss"``, or ``"zero"``: three searches, each from where the last one ended.
    max_iter, tolerance
        Most steps of a search, and the gradient at which it ends.
    standardize
        Columns to mean 0 and spread 1 (sparse ones are divided only). ``coef_`` and ``intercept_``
        are those of the columns as they came; of words, dates and missing values, those of
        ``preparation_.names``.

    The objective must not learn from batch to batch (``"soprc"``, ``"soap"``): there is one batch.
    For the other parameters see :class:`~rankwise.estimators.base.Ranker`.
    """

    coef_: _Vector
    intercept_: _Vector
    n_iter_: int

    def __init__(
        self,
        objective: str = "ap",
        *,
        alpha: float = 1e-4,
        proximity: float = 1e-2,
        start: Literal["log_loss", "zero"] = "log_loss",
        max_iter: int = 200,
        tolerance: float = 1e-6,
        standardize: bool = True,
        metric: str | None = None,
        threshold: str | float = 0.5,
        calibration: Calibration = "sigmoid",
        validation_fraction: float = 0.2,
        random_state: Any = None,
        text: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            objective,
            metric=metric,
            threshold=threshold,
            calibration=calibration,
            validation_fraction=validation_fraction,
            random_state=random_state,
            text=text,
        )
        self.alpha = alpha
        self.proximity = proximity
        self.start = start
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.standardize = standardize

    def _check_options(self) -> Rule:
        require_one_of("start", self.start, ("log_loss", "zero"))
        require_count("max_iter", self.max_iter)
        require_positive("tolerance", self.tolerance)
        for name in ("alpha", "proximity"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be a number >= 0, got {getattr(self, name)!r}")
        stateless(self.objective, 0.5)
        return super()._check_options()

    def _fit_scores(self, data: Training) -> None:
        train = data.train
        design = Design(train.X, train.weight, raw=not self.standardize)
        reached = None if data.checkpoint is None else data.checkpoint.load()
        if reached is None:
            weights, intercept, self.n_iter_, done = np.zeros(design.columns), 0.0, 0, 0
            if self.start == "log_loss" or is_log_loss(self.objective):
                with part_of_time(1 if is_log_loss(self.objective) else 2):
                    weights, intercept = self._logistic(design, train)
            started = weights
            self._keep(data, started, weights, intercept, done)
        else:
            started, weights = (reached[name].numpy() for name in ("started", "weights"))
            intercept, self.n_iter_, done = (reached[n] for n in ("intercept", "n_iter", "done"))
        if not is_log_loss(self.objective):
            steps = 1 if self.start == "log_loss" else 3
            for step in range(done, steps):
                with part_of_time(steps - step):
                    weights = self._metric_step(design, data, weights)
                self._keep(data, started, weights, intercept, step + 1)
            before, after = (
                data.judge(data.held_out.X @ design.unscaled(w, 0.0)[0]) for w in (started, weights)
            )
            if after < before:
                weights = started
            else:
                intercept = 0.0
        coefficients, intercept = design.unscaled(weights, intercept)
        self.coef_, self.intercept_ = coefficients[None], np.array([intercept])

    def _keep(
        self, data: Training, started: _Vector, weights: _Vector, intercept: float, done: int
    ) -> None:
        """Leave what ``done`` searches of the objective have come to."""
        if data.checkpoint is not None:
            arrays = {"started": started, "weights": weights}
            found = {name: torch.from_numpy(array) for name, array in arrays.items()}
            numbers = {"intercept": intercept, "n_iter": self.n_iter_, "done": done}
            data.checkpoint.save({**found, **numbers})

    def _logistic(self, design: Design, train: Part) -> tuple[_Vector, float]:
        nothing = np.zeros(design.columns)
        kind = torch.from_numpy(design.scores(nothing)).dtype
        target, weight, _ = _tensors(train)
        target = (target > 0).to(kind)
        total = float(len(train)) if weight is None else float(weight.sum())
        weight = None if weight is None else weight.to(kind)

        def mean_log_loss(scores: torch.Tensor) -> torch.Tensor:
            # That of CrossEntropy, without its checks, and summed so that rounding does not end
            # the search: the rows are known by now.
            losses = binary_cross_entropy_with_logits(scores, target, weight, reduction="none")
            return losses.sum(dtype=torch.float64) / total

        found, steps = search(
            design,
            mean_log_loss,
            np.append(nothing, 0.0),
            ridge=self.alpha,
            about=nothing,
            max_iter=self.max_iter,
            tolerance=self.tolerance,
        )
        self.n_iter_ += max(1, steps)
        return found[:-1], float(found[-1])

    def _metric_step(self, design: Design, data: Training, weights: _Vector) -> _Vector:
        """One search for the minimum of the objective as it is at ``weights``."""
        target, weight, groups = _tensors(data.train)
        if not is_graded(self.objective):
            target = target > 0  # classes as booleans need no looking at in every call
        objective = stateless(self.objective, data.prior if groups is None else None)
        scores = design.scores(weights)
        if isinstance(objective, AveragePrecision) and objective.score_scale == "auto":
            spread = _spread(scores, data.train.weight)
            weights, scores = weights / spread, scores / scores.dtype.type(spread)
        loss = fixed_at(objective, torch.from_numpy(scores), target, weight, groups)
        found, steps = search(
            design,
            loss,
            weights,
            ridge=self.proximity,
            about=weights,
            max_iter=self.max_iter,
            tolerance=self.tolerance,
        )
        self.n_iter_ += max(1, steps)
        return found

    def _scores(self, X: Any) -> Floats:
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def _state(self) -> State:
        return {"coef": self.coef_, "intercept": self.intercept_, "n_iter": np.array(self.n_iter_)}

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.coef_, self.intercept_ = state["coef"], state["intercept"]
        self.n_iter_ = int(state["n_iter"])


def _tensors(part: Part) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
    """Target, weight and groups of the rows."""
    beside = (None if a is None else torch.from_numpy(a) for a in (part.weight, part.groups))
    weight, groups = beside
    return torch.from_numpy(part.target), weight, groups


def _spread(scores: NDArray[Any], weight: _Vector | None) -> float:
    wide = scores.astype(np.float64)
    mean = np.average(wide, weights=weight)
    return float(np.sqrt(np.average((wide - mean) ** 2, weights=weight))) or 1.0
