"""What the linear rankers of grouped rows share: users, the choice by folds, the model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from rankwise.checks import require_count
from rankwise.estimators.base import Calibration, Ranker, State
from rankwise.estimators.data import Floats, Part, Training
from rankwise.estimators.features import learn_features
from rankwise.estimators.papk.descent import Found, Problem
from rankwise.estimators.papk.grid import (
    ETAS,
    LAMS,
    folds_of_users,
    problem_of,
    search_grid,
    settings,
)
from rankwise.estimators.papk.users import UserCounts
from rankwise.estimators.targets import read_groups, read_target
from rankwise.estimators.threshold import Rule

__all__ = ["GroupedRanker"]


class GroupedRanker(Ranker):
    """Scores x·w for the items of many users, judged by Micro-pAp@k. Abstract.

    ``fit(X, y, groups=…)`` takes the user of every row; without groups all rows are one user's.
    A share of the users is held out, and the model on the way that ranks them best is kept. Users
    without both classes have nothing to rank: they are counted in ``users_``, with those who have
    fewer than k negatives, and a warning says so.

    k
        How many places each user has.
    standardize
        Columns to mean 0 and spread 1 before. ``coef_`` is that of the columns as they came.

    Fitted: ``coef_``, ``intercept_``, ``n_iter_``, ``users_``; by :meth:`cv` also ``cv_results_``.
    For the other parameters see :class:`~rankwise.estimators.base.Ranker`.
    """

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_iter_: int
    users_: UserCounts
    cv_results_: dict[str, NDArray[np.float64]]

    metric: str | None = None
    text: None = None

    def __init__(
        self,
        k: int = 10,
        *,
        standardize: bool = True,
        threshold: str | float = 0.5,
        calibration: Calibration = "sigmoid",
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        # Not that of Ranker: the objective follows from k, and so does the metric.
        self.k = k
        self.standardize = standardize
        self.threshold = threshold
        self.calibration = calibration
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @property
    def objective(self) -> str:  # type: ignore[override]
        """The name of what it is judged by."""
        return f"pap@{self.k}"

    @property
    def _metric_name(self) -> str:
        return f"pap@{self.k}"

    def _check_options(self) -> Rule:
        require_count("k", self.k)
        return super()._check_options()

    @abstractmethod
    def _search(self, problem: Problem, grid: Sequence[tuple[float, float]]) -> Found:
        """The best model on the way for every (η, λ) of the grid."""

    @abstractmethod
    def _setting(self) -> tuple[float, float]:
        """Its own (η, λ)."""

    @abstractmethod
    def _with(self, eta: float, lam: float) -> Self:
        """An unfitted ranker like this one with another (η, λ)."""

    def _fit_scores(self, data: Training) -> None:
        problem = problem_of(self, data.train, data.held_out, data.seed)
        self.users_ = problem.users.counts(self.k)
        if data.train.groups is not None:
            self.users_.warn()
        found = self._search(problem, [self._setting()])
        if not np.isfinite(found.values[0]):
            raise ValueError(f"{type(self).__name__} has diverged: take a smaller eta, or scale X")
        coefficients, intercept = problem.design.unscaled(
            found.weights[:, 0], float(found.intercepts[0])
        )
        self.coef_, self.intercept_ = coefficients[None], np.array([intercept])
        self.n_iter_ = int(found.steps[0])

    def cv(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any,
        sample_weight: Any = None,
        etas: Sequence[float] = ETAS,
        lams: Sequence[float] = LAMS,
        folds: int = 5,
    ) -> Self:
        """A new ranker with the best (η, λ), fitted to all rows.

        The users are dealt into ``folds``; every setting is trained on the others and judged by
        Micro-pAp@k of those left out, its best iterate counting. All settings of a fold share one
        descent. ``cv_results_`` has ``eta``, ``lam`` and ``values``, (settings, folds).
        """
        self._check_options()
        require_count("folds", folds)
        grid = settings(etas, lams)
        copy = clone(self)
        rows, y_read, weight = learn_features(copy, X, y, sample_weight)
        _, target = read_target(y_read, graded=False)
        part = Part(rows, target, weight, read_groups(groups, len(target)))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        values = []
        for left_out in folds_of_users(part, folds, seed):
            fold = search_grid(copy, part.rows(~left_out), part.rows(left_out), grid, seed)
            values.append(fold.values)
        table = np.stack(values, axis=1)
        tried = grid[: len(table)]
        chosen = self._with(*tried[int(np.argmax(table.mean(1)))])
        chosen.fit(X, y, groups=groups, sample_weight=sample_weight)
        chosen.cv_results_ = {
            "eta": np.array([pair[0] for pair in tried]),
            "lam": np.array([pair[1] for pair in tried]),
            "values": table,
        }
        return chosen

    def _scores(self, X: Any) -> Floats:
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def _state(self) -> State:
        users = self.users_
        counts = (
            users.users,
            users.without_positives,
            users.without_negatives,
            users.few_negatives,
            users.k,
        )
        return {
            "coef": self.coef_,
            "intercept": self.intercept_,
            "n_iter": np.array(self.n_iter_),
            "users": np.array(counts),
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.coef_, self.intercept_ = state["coef"], state["intercept"]
        self.n_iter_ = int(state["n_iter"])
        self.users_ = UserCounts(*(int(count) for count in state["users"]))
