"""Boosted trees as an estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rankwise.boosting.engines import EngineName, Table, Trees, engine_of
from rankwise.boosting.gradient import ObjectiveGradient, log_loss_gradient
from rankwise.boosting.mixing import Mixed
from rankwise.boosting.objectives import stateless_objective
from rankwise.boosting.precision import unsaturated
from rankwise.boosting.rows import Rows
from rankwise.boosting.training import Stage, boost
from rankwise.checks import require_count, require_one_of, require_positive
from rankwise.estimators.base import Calibration, Ranker, State
from rankwise.estimators.data import Floats, Part, Training
from rankwise.estimators.names import is_log_loss
from rankwise.estimators.threshold import Rule

__all__ = ["BoostedRanker"]


class BoostedRanker(Ranker):
    """Gradient-boosted trees of LightGBM or XGBoost, log-loss with a share of the objective first.

    The gradient of the first trees is that of log-loss and, for a share of ``blend``, that of the
    objective (for average precision of −log precision, which does not saturate). They are grown
    until the metric of the rows held out is at its best; from there trees of the objective alone,
    as long as they make it better. The objective from the first tree on, ``warm_rounds=0``, gains
    more where classes are many and loses where positives are few; plain log-loss for the first
    trees, ``blend=0``, gains less and is never below log-loss on the rows held out. How that was
    found is in benchmarks/boosting.py.

    n_estimators
        Most trees in all.
    learning_rate, num_leaves, min_child_samples, subsample, colsample, reg
        Size of the steps, leaves of a tree, least rows of a leaf, share of the rows and of the
        columns for each tree, ridge on the values of the leaves. XGBoost has no least number of
        rows: there it is the curvature that so many rows have at the start.
    early_stopping_rounds
        Trees without a better metric on the rows held out after which to go on or to end; None:
        all ``n_estimators`` trees are grown and kept.
    warm_rounds
        How many trees come first. None: as many as early stopping finds best, or half of all
        without it.
    blend
        Share of the objective in the gradient of these first trees, the rest is log-loss.
    engine
        ``"lightgbm"`` or ``"xgboost"``. Both take missing values and columns of categories. What a
        sparse row does not hold is 0 for LightGBM and missing for XGBoost.
    n_jobs
        Threads; −1 for as many as there are.

    Fitted: ``n_trees_``, ``best_value_`` (the metric of the rows held out; None without early
    stopping). For the other parameters see :class:`~rankwise.estimators.base.Ranker`.
    """

    takes_missing = True
    takes_categories = True

    n_trees_: int
    best_value_: float | None
    _start: float
    _text: str

    def __init__(
        self,
        objective: str = "ap",
        *,
        n_estimators: int = 500,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        min_child_samples: int = 20,
        subsample: float = 1.0,
        colsample: float = 1.0,
        reg: float = 0.0,
        early_stopping_rounds: int | None = 50,
        warm_rounds: int | None = None,
        blend: float = 0.3,
        engine: EngineName = "lightgbm",
        n_jobs: int = -1,
        metric: str | None = None,
        threshold: str | float = "f1",
        calibration: Calibration = "sigmoid",
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            objective,
            metric=metric,
            threshold=threshold,
            calibration=calibration,
            validation_fraction=validation_fraction,
            random_state=random_state,
        )
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.subsample = subsample
        self.colsample = colsample
        self.reg = reg
        self.early_stopping_rounds = early_stopping_rounds
        self.warm_rounds = warm_rounds
        self.blend = blend
        self.engine = engine
        self.n_jobs = n_jobs

    def _check_options(self) -> Rule:
        require_one_of("engine", self.engine, get_args(EngineName))
        for name in ("n_estimators", "min_child_samples"):
            require_count(name, getattr(self, name))
        if self.early_stopping_rounds is not None:
            require_count("early_stopping_rounds", self.early_stopping_rounds)
        if self.warm_rounds:
            require_count("warm_rounds", self.warm_rounds)
        if not (isinstance(self.num_leaves, (int, np.integer)) and self.num_leaves >= 2):
            raise ValueError(f"num_leaves must be a whole number >= 2, got {self.num_leaves!r}")
        require_positive("learning_rate", self.learning_rate)
        for name in ("subsample", "colsample"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in (0, 1], got {getattr(self, name)!r}")
        if not 0 <= self.reg < np.inf:
            raise ValueError(f"reg must be a number >= 0, got {self.reg!r}")
        if self.n_jobs == 0:
            raise ValueError("n_jobs must be -1 or a number of threads >= 1, got 0")
        self._stages(True)  # refuses an objective with a memory, and a wrong blend
        return super()._check_options()

    def _stages(self, stops: bool) -> list[Stage]:
        """A little of the objective, then only that, with the number of trees each ends at."""
        total, warm = self.n_estimators, self.warm_rounds
        if is_log_loss(self.objective):
            return [Stage(log_loss_gradient, total)]
        if warm is None:
            warm = total if stops else total // 2
        objective = stateless_objective(self.objective)
        first = Mixed(ObjectiveGradient(unsaturated(objective)), self.blend)
        return [Stage(first, min(warm, total)), Stage(ObjectiveGradient(objective), total)]

    def _fit_scores(self, data: Training) -> None:
        self._start = float(np.log(data.prior / (1 - data.prior)))
        stops = self.early_stopping_rounds is not None and data.splits
        held_out = _table(data.held_out) if stops else None
        kind, train = engine_of(self.engine), _table(data.train)
        engine = kind(self._trees(data), train, held_out, self._start)
        judge = data.judge if stops else None
        best = boost(engine, self._stages(stops), judge, self.early_stopping_rounds)
        self.best_value_ = best if stops else None
        self.n_trees_, self._text = engine.rounds, engine.text()
        self._predictor = None

    def _trees(self, data: Training) -> Trees:
        return Trees(
            learning_rate=self.learning_rate,
            num_leaves=self.num_leaves,
            min_child_samples=self.min_child_samples,
            subsample=self.subsample,
            colsample=self.colsample,
            reg=self.reg,
            n_jobs=self.n_jobs,
            seed=data.seed,
            categories=tuple(self.categories_),
        )

    @property
    def text_(self) -> str:
        """The trees in the engine's own format, which its own tools read."""
        check_is_fitted(self)
        return self._text

    def _scores(self, X: Any) -> Floats:
        # The booster of the text is made when it is first needed, and never pickled.
        if self._predictor is None:
            self._predictor = engine_of(self.engine).read(self._text, self.n_jobs)
        return self._start + self._predictor(X)

    _predictor: Callable[[Any], Floats] | None = None

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_predictor"}

    def _state(self) -> State:
        found: State = {"trees": self._text, "start": np.array(self._start)}
        found["n_trees"] = np.array(self.n_trees_)
        if self.best_value_ is not None:
            found["best_value"] = np.array(self.best_value_)
        return found

    def _restore(self, state: Mapping[str, Any]) -> None:
        self._text, self._start = state["trees"], float(state["start"])
        self.n_trees_ = int(state["n_trees"])
        best = state.get("best_value")
        self.best_value_ = None if best is None else float(best)
        self._predictor = engine_of(self.engine).read(self._text, self.n_jobs)


def _table(part: Part) -> Table:
    return Table(part.X, Rows(part.target, part.weight, part.groups))
