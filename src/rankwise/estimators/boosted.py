"""Boosted trees as an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankwise.baselines.pointwise import PointwiseObjective
from rankwise.boosting.classes import OneVsRestGradient, softmax_gradient
from rankwise.boosting.engines import Engine, EngineName, Stage, Trees, boost, engine_of
from rankwise.boosting.gradient import first_score, log_loss_gradient
from rankwise.boosting.noise import SAMPLES, check_noise
from rankwise.boosting.objectives import BoosterObjective, gradient_of, stateless_objective
from rankwise.boosting.rows import Rows
from rankwise.checks import require_count, require_number, require_one_of, require_positive
from rankwise.estimators._classes import odds_of
from rankwise.estimators._holdout import clearly_better, folds_of
from rankwise.estimators.base import Ranker
from rankwise.estimators.data import Floats, Loaded, Matrix, Part, State, Training, Vector
from rankwise.estimators.limits import part_of_time, time_is_up
from rankwise.estimators.names import is_log_loss

_OF_TREES = ("learning_rate", "num_leaves", "min_child_samples", "subsample", "colsample", "reg")


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedRanker(Ranker):
    """Gradient-boosted trees of LightGBM or XGBoost, grown on the objective and on log-loss.

    Two sets of trees are grown, one on the objective and one on log-loss, each until the metric of
    the rows held out is at its best. Both score in log-odds, and a row's score is the mean of the
    two, or that of log-loss alone where this clearly ranks the rows held out better. Trees of the
    objective alone, ``blend=1``, gain more on some tables and lose on others; benchmarks/README.md
    has both, and compares them with the mean of any two models. ``folds=5`` takes five times as
    long and ranks better.

    With more than two classes a round is a tree for each of them: of the objective for each class
    against the rest, and of the log-loss of the softmax.

    Args:
        n_estimators: Maximum number of trees of either set.
        learning_rate: Size of the steps.
        num_leaves: Leaves of a tree.
        min_child_samples: Minimum number of rows of a leaf. XGBoost has no such number: there it is
            the curvature that this number of rows has at the start.
        subsample: Share of the rows for each tree.
        colsample: Share of the columns for each tree.
        reg: Ridge on the values of the leaves.
        early_stopping_rounds: Trees without a better metric on the rows held out after which a
            stage ends. None: all ``n_estimators`` trees are grown and kept.
        blend: Weight of the objective's trees in the mean; log-loss has the rest. None: a half, or
            0 where that is clearly worse on the rows held out; 1 for a loss of single items such
            as ``"focal"``. Of graded relevances y, log-loss takes y/max y as the probability.
        folds: Number of parts of the rows. With more than one, each part is held out once, and a
            row's score is the mean over the models of all of them; ``validation_fraction`` is not
            used then. Calibration and threshold come from the scores of the parts held out.
        warm_rounds: Number of the objective's trees that are grown on log-loss first. None: as many
            as early stopping finds best, or half of all without it.
        gradient_blend: Share of the objective in the gradient of its trees; log-loss has the rest.
            Graded lists: try ``blend=1, gradient_blend=0.2`` (docs/ranking.md).
        noise: Scale of the noise that is added to the scores before the objective's gradient, in
            units of the scores (log-odds): stochastic smoothing, as in YetiRank. 0 for none.
        samples: Number of noisy orders a tree, over which the gradient is averaged.
        engine: ``"lightgbm"`` or ``"xgboost"``. Both take missing values and categories. A value
            that a sparse row does not hold is 0 for LightGBM and missing for XGBoost.
        n_jobs: Threads; −1 for all.
        objective, metric, threshold, calibration, validation_fraction, random_state, text:
            See :class:`Ranker`, which also has the other attributes.

    Attributes:
        n_trees_: Trees of all sets that are used.
        blend_: The weight that is used.
        best_value_: The metric of the rows held out; None without early stopping.

    Example:
        >>> import numpy as np
        >>> from rankwise.estimators import BoostedRanker
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> y = X[:, 0] > 1
        >>> model = BoostedRanker("ap", n_estimators=10, random_state=0).fit(X, y)
        >>> bool(model.score(X, y) > 0.9), model.blend_
        (True, 0.5)
    """

    takes_missing = True
    takes_categories = True
    takes_disk = True
    takes_classes = True

    n_estimators: int = 500
    learning_rate: float = 0.1
    num_leaves: int = 31
    min_child_samples: int = 20
    subsample: float = 1.0
    colsample: float = 1.0
    reg: float = 0.0
    early_stopping_rounds: int | None = 50
    blend: float | None = None
    folds: int = 1
    warm_rounds: int | None = 0
    gradient_blend: float = 1.0
    noise: float = 0.0
    samples: int = SAMPLES
    engine: EngineName = "lightgbm"
    n_jobs: int = -1

    n_trees_: int = field(init=False)
    blend_: float = field(init=False)
    best_value_: float | None = field(init=False)
    # Of more than two classes those of the softmax and, in the second row, of one-vs-rest trees.
    _start: float | Vector = field(init=False)
    _predictors: dict[str, Callable[[Matrix], Floats]] | None = field(init=False, default=None)
    _texts: dict[str, str] = field(init=False)  # by the names of _used

    def _check_options(self) -> None:
        require_one_of("engine", self.engine, get_args(EngineName))
        self._require(require_count, "n_estimators", "min_child_samples", "early_stopping_rounds")
        require_count("folds", self.folds)
        self._require(require_count, "warm_rounds", minimum=0)
        require_count("num_leaves", self.num_leaves, minimum=2)
        require_positive("learning_rate", self.learning_rate)
        for name in ("subsample", "colsample"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in (0, 1], got {getattr(self, name)!r}")
        require_number("reg", self.reg, minimum=0)
        if self.n_jobs == 0:
            raise ValueError("n_jobs must be -1 or a number of threads >= 1, got 0")
        for name in ("blend", "gradient_blend"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{name} must be in [0, 1], got {value!r}")
        check_noise(self.noise, self.samples)
        self._stages(True)  # refuses an objective with a memory
        super()._check_options()

    @property
    def _share(self) -> float:
        """Return the weight of the objective's trees."""
        if is_log_loss(self._objective_name):
            return 1.0  # they are log-loss
        if self.blend is not None:
            return float(self.blend)
        pointwise = isinstance(stateless_objective(self._objective_name), PointwiseObjective)
        return 1.0 if pointwise else 0.5

    def _stages(
        self, stops: bool, seed: int = 0, *, several: bool = False
    ) -> dict[str, list[Stage]]:
        """Return the gradients of each set of trees, with the number of trees each ends at."""
        total, warm = self.n_estimators, self.warm_rounds
        plain: Stage = softmax_gradient if several else log_loss_gradient, total
        found = {"trees": [plain], "log_loss_trees": [plain]}
        if not is_log_loss(self._objective_name):
            if warm is None:
                warm = total if stops else total // 2
            own = gradient_of(
                self._objective_name, noise=self.noise, samples=self.samples, seed=seed
            )
            mixed = BoosterObjective(self._objective_name, 0, own, self.gradient_blend).mixed
            metric: Stage = mixed, total
            first: list[Stage] = [(log_loss_gradient, min(warm, total))] if warm else []
            found["trees"] = [*first, metric]
            if several:
                found["trees"] = [(OneVsRestGradient(each), n) for each, n in found["trees"]]
        return {name: found[name] for name in _weights(self._share)}

    def _name(self, fold: int, of: str) -> str:
        """Return the name of a set of trees in a file."""
        return of if self.folds == 1 else f"fold_{fold}_{of}"

    def _training(self, part: Part, held_out: Part | None = None) -> Training:
        if self.folds == 1:
            return super()._training(part, held_out)
        if held_out is not None:
            raise ValueError(
                f"folds={self.folds} holds out every row of X once: leave validation out, or set "
                "folds=1"
            )
        part = part.weighted_rows()
        return super()._training(part, part)

    def _fit_scores(self, data: Training) -> None:
        objective = (
            None if is_log_loss(self._objective_name) else stateless_objective(self._objective_name)
        )
        several = data.shares is not None
        if data.shares is None:
            self._start = first_score(objective, _prior(data))
        else:
            apart = [first_score(objective, float(share)) for share in data.shares]
            self._start = np.array([np.log(data.shares), apart])
        stops = self.early_stopping_rounds is not None and (data.splits or self.folds > 1)
        rounds: dict[str, int] = {}
        self._texts, self._predictors, self.blend_ = {}, None, self._share
        before = None if data.checkpoint is None else data.checkpoint.load()
        if before is not None:
            rounds, self._texts = dict(before["rounds"]), dict(before["texts"])
        of_row = self._fold_of_rows(data)
        stages = self._stages(stops, data.seed, several=several)
        for fold in range(self.folds):
            train, held_out = data.train, data.held_out
            if self.folds > 1:
                train, held_out = data.train.rows(of_row != fold), data.train.rows(of_row == fold)
            engine: Engine | None = None
            for of, grown in stages.items():
                name = self._name(fold, of)
                if name in rounds:
                    continue
                softmax = several and self._is_softmax(of)
                metric = partial(_value, data.metric, held_out, softmax) if stops else None
                if engine is None or several or min(self.subsample, self.colsample) < 1:
                    # What is drawn for one set of trees must not depend on the set before.
                    trees = self._trees(data.seed + fold)
                    others = _rows(held_out) if stops else None
                    start = self._start_of(of)
                    engine = engine_of(self.engine)(trees, _rows(train), others, start)
                engine.cut(0)
                with part_of_time(len(stages) * self.folds - len(rounds)):
                    boost(engine, grown, metric, self.early_stopping_rounds, time_is_up)
                rounds[name], self._texts[name] = engine.rounds, engine.text()
                if data.checkpoint is not None:
                    data.checkpoint.save({"rounds": rounds, "texts": self._texts})
        if stops and self.blend is None and 0 < self._share < 1:
            mean = self._scores_held_out(data)
            self.blend_ = 0.0
            alone = self._scores_held_out(data)
            if clearly_better(alone, mean, data.held_out, data.metric, data.seed):
                rounds = {name: n for name, n in rounds.items() if name in self._used}
                self._texts = {name: self._texts[name] for name in rounds}
            else:
                self.blend_ = self._share
        self.best_value_ = data.evaluate(self._scores_held_out(data)) if stops else None
        self.n_trees_ = sum(rounds.values()) * self._outputs

    @property
    def _outputs(self) -> int:
        """Number of scores of a row: one for two classes."""
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _is_softmax(self, name: str) -> bool:
        """Return whether a set of trees of several classes is of the softmax log-loss."""
        return name.endswith("log_loss_trees") or is_log_loss(self._objective_name)

    def _start_of(self, name: str) -> float | Vector:
        """Return the score before the first tree of a set."""
        if isinstance(self._start, float):
            return self._start
        start: Vector = self._start[0 if self._is_softmax(name) else 1]
        return start

    def _class_scores(self, name: str, X: Matrix) -> Floats:
        """Return the log-odds of several classes by a set of trees."""
        scores = self._predictor(name)(X) + self._start_of(name)
        return odds_of(scores) if self._is_softmax(name) else scores

    def _trees(self, seed: int) -> Trees:
        return Trees(
            **{name: getattr(self, name) for name in _OF_TREES},
            n_jobs=max(0, self.n_jobs),
            seed=seed,
            categories=tuple(self.preparation_.categories),
            outputs=self._outputs,
        )

    def _fold_of_rows(self, data: Training) -> NDArray[np.int64]:
        """Return the fold that holds out each of the rows held out."""
        if self.folds == 1:
            return np.zeros(len(data.held_out), dtype=np.int64)
        return folds_of(data.train, self.folds, data.seed)

    @property
    def _used(self) -> dict[str, tuple[int, float]]:
        """The sets of trees that are used, with the fold and the weight within it."""
        return {
            self._name(fold, of): (fold, weight)
            for fold in range(self.folds)
            for of, weight in _weights(self.blend_).items()
        }

    def _scores_held_out(self, data: Training) -> Floats:
        of_row, several = self._fold_of_rows(data), self._outputs > 1
        count = len(data.held_out)
        scores = np.zeros((count, self._outputs)) if several else np.full(count, self._start)
        for name, (fold, weight) in self._used.items():
            rows = np.flatnonzero(of_row == fold)
            held_out = data.held_out.rows(rows) if self.folds > 1 else data.held_out
            score_of = partial(self._class_scores, name) if several else self._predictor(name)
            scores[rows] += weight * score_of(held_out.X)
        return scores

    @property
    def texts_(self) -> dict[str, str]:
        """The sets of trees in the engine's own format, which its own tools read."""
        check_is_fitted(self)
        return dict(self._texts)

    @property
    def feature_importances_(self) -> Floats:
        """The share of each column in the gain of the splits, in the order of the columns.

        Normalized to a sum of 1; all zeros where nothing was split. Each set of trees counts by
        its weight in the mean. Gains are those of the training rows: permutation importance on
        rows held out, as ``rankwise compare`` reports it, shows the worth of a column.
        """
        check_is_fitted(self)
        found = np.zeros(self.n_features_in_)
        for name, (_, share) in self._used.items():
            gains = engine_of(self.engine).gains(
                self._texts[name], self.n_features_in_, self._outputs
            )
            found += share * gains / (gains.sum() or 1.0)
        return found / (found.sum() or 1.0)

    def _scores(self, X: Matrix) -> Floats:
        if self._outputs > 1:
            parts = [(self._class_scores(name, X), w) for name, (_, w) in self._used.items()]
            mean: Floats = np.sum([weight / self.folds * part for part, weight in parts], axis=0)
            return mean
        scores = np.full(X.shape[0], self._start)
        for name, (_, weight) in self._used.items():
            scores += weight / self.folds * self._predictor(name)(X)
        return scores

    def _predictor(self, name: str) -> Callable[[Matrix], Floats]:
        # The boosters of the texts are made when they are first needed, and never pickled.
        if self._predictors is None:
            self._predictors = {}
        if name not in self._predictors:
            read = engine_of(self.engine).read
            self._predictors[name] = read(self._texts[name], max(0, self.n_jobs), self._outputs)
        return self._predictors[name]

    def __getstate__(self) -> dict[str, object]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_predictors"}

    def _state(self) -> State:
        found: State = {**self._texts, "start": np.array(self._start)}
        found["n_trees"], found["blend"] = np.array(self.n_trees_), np.array(self.blend_)
        if self.best_value_ is not None:
            found["best_value"] = np.array(self.best_value_)
        return found

    def _restore(self, state: Loaded) -> None:
        start, self.n_trees_ = np.asarray(state["start"]), int(state["n_trees"])
        self._start = float(start) if start.ndim == 0 else start
        self.blend_ = float(state["blend"])
        self._texts = {name: state[name] for name in self._used}
        best = state.get("best_value")
        self.best_value_ = None if best is None else float(best)
        for name in self._texts:
            self._predictor(name)  # so that a broken file is an error here


def _weights(share: float) -> dict[str, float]:
    """Return the weights above 0 of the sets of trees, given that of the objective's."""
    found = {"trees": share, "log_loss_trees": 1 - share}
    return {name: weight for name, weight in found.items() if weight > 0}


def _value(
    metric: Callable[[Floats, Part], float], part: Part, softmax: bool, scores: Floats
) -> float:
    return metric(odds_of(scores) if softmax else scores, part)


def _prior(data: Training) -> float:
    """Return the share of positives, or the mean of y/max y of graded relevances."""
    share = _rows(data.train).share
    if share.dtype == np.bool_:
        return data.prior
    return float(np.average(share, weights=data.train.weight))


def _rows(part: Part) -> Rows:
    return Rows(part.target, part.weight, part.groups, part.X)
