"""The linear model as an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count, require_number, require_one_of, require_positive
from rankwise.estimators._classes import odds_of
from rankwise.estimators.base import Ranker
from rankwise.estimators.data import Floats, Loaded, Matrix, Part, State, Training, Vector
from rankwise.estimators.limits import part_of_time
from rankwise.estimators.linear._classes import ClassDesign, class_loss, multinomial_log_loss
from rankwise.estimators.linear._search import Design, fixed_at, mean_log_loss, search, spread_of
from rankwise.estimators.names import is_graded, is_log_loss, is_of_classes, make_stateless
from rankwise.objectives import AveragePrecision


@dataclass(eq=False, repr=False)
class LinearModel(Ranker):
    """A ranker whose scores are linear in the columns."""

    coef_: Vector = field(init=False)
    intercept_: Vector = field(init=False)
    n_iter_: int = field(init=False)

    def _keep_weights(self, design: Design, weights: Vector, intercept: float) -> None:
        coefficients, intercept = design.unscaled(weights, intercept)
        self.coef_, self.intercept_ = coefficients[None], np.array([intercept])

    def _scores(self, X: Matrix) -> Floats:
        if len(self.coef_) > 1:
            return odds_of(_logits(X, self.coef_, self.intercept_))
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def _state(self) -> State:
        return {"coef": self.coef_, "intercept": self.intercept_, "n_iter": np.array(self.n_iter_)}

    def _restore(self, state: Loaded) -> None:
        self.coef_, self.intercept_ = state["coef"], state["intercept"]
        self.n_iter_ = int(state["n_iter"])


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRanker(LinearModel):
    """A linear model fitted by L-BFGS to the objective of all rows, from the logistic solution.

    The same rows and ``random_state`` give the same model. A logistic regression with the ridge
    ``alpha`` is fitted first; from there the objective is minimized with a ridge toward that
    solution, ``proximity`` (scores are in units of their spread, where the objective is). Where
    the result ranks the rows held out worse than its start by the metric, the start is kept: with
    many columns and few positives it would fit the order of the training rows only.

    With more than two classes the logistic regression is multinomial; from there the mean of the
    objective over the classes is minimized, each ranked by its log-odds against the rest.

    The objective must not learn from batch to batch (``"soprc"``, ``"soap"``): there is one batch.

    Args:
        alpha: Ridge α/2 · ‖w‖² added to the mean log-loss, for standardized columns.
        proximity: Ridge λ/2 · ‖w − w₀‖² added to the objective, with w₀ its start.
        start: ``"log_loss"``, or ``"zero"``: three searches, each from the end of the last one.
        max_iter: Maximum number of steps of a search.
        tolerance: The gradient at which a search ends.
        standardize: Scale columns to mean 0 and spread 1 (sparse ones are divided only).
        objective, metric, threshold, calibration, validation_fraction, random_state, text:
            See :class:`Ranker`, which also has the other attributes.

    Attributes:
        coef_: Coefficients of the columns as they came, (1, columns), or (classes, columns) of
            more than two classes; of words, dates and missing values, those of
            ``preparation_.names``.
        intercept_: The intercept, (1,) or (classes,).
        n_iter_: Steps of all searches.

    Example:
        >>> import numpy as np
        >>> from rankwise.estimators import LinearRanker
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> y = X[:, 0] > 1
        >>> model = LinearRanker("ap", threshold="f1", random_state=0).fit(X, y)
        >>> model.score(X, y), bool((model.predict(X) == y).mean() > 0.97)
        (1.0, True)
    """

    takes_disk = True
    takes_partial_epochs = True
    takes_classes = True

    alpha: float = 1e-4
    proximity: float = 1e-2
    start: Literal["log_loss", "zero"] = "log_loss"
    max_iter: int = 200
    tolerance: float = 1e-6
    standardize: bool = True

    def _check_options(self) -> None:
        require_one_of("start", self.start, ("log_loss", "zero"))
        require_count("max_iter", self.max_iter)
        require_positive("tolerance", self.tolerance)
        self._require(require_number, "alpha", "proximity", minimum=0)
        if not is_of_classes(self._objective_name):
            make_stateless(self._objective_name)  # refuses an objective with a memory
        super()._check_options()

    def _fit_scores(self, data: Training) -> None:
        train = data.train
        design = Design(train.X, train.weight, raw=not self.standardize)
        if train.classes > 2:
            self._fit_classes(data, ClassDesign(design, train.classes))
            return
        reached = None if data.checkpoint is None else data.checkpoint.load()
        if reached is None:
            weights, intercept, self.n_iter_, done = np.zeros(design.columns), 0.0, 0, 0
            if self.start == "log_loss" or is_log_loss(self._objective_name):
                with part_of_time(1 if is_log_loss(self._objective_name) else 2):
                    some, part = _of_search(design, data, 0)
                    positive, weight = torch.from_numpy(part.positive), _tensors(part)[1]
                    loss = mean_log_loss(some, positive, weight)
                    found = self._search(some, loss, np.zeros(design.columns + 1), self.alpha)
                    weights, intercept = found[:-1], float(found[-1])
            started = weights
            self._keep(data, started, weights, intercept, done)
        else:
            started, weights = (reached[name].numpy() for name in ("started", "weights"))
            intercept, self.n_iter_, done = (reached[n] for n in ("intercept", "n_iter", "done"))
        if not is_log_loss(self._objective_name):
            steps = 1 if self.start == "log_loss" else 3
            for step in range(done, steps):
                with part_of_time(steps - step):
                    some, part = _of_search(design, data, step + 1)
                    weights = self._metric_step(some, part, data.prior, weights)
                self._keep(data, started, weights, intercept, step + 1)
            before, after = (
                data.evaluate(data.held_out.X @ design.unscaled(w, 0.0)[0])
                for w in (started, weights)
            )
            if after < before:
                weights = started
            else:
                intercept = 0.0
        self._keep_weights(design, weights, intercept)

    def _fit_classes(self, data: Training, design: ClassDesign) -> None:
        """Fit more than two classes, with the same steps as two."""
        search = partial(design.search, max_iter=self.max_iter, tolerance=self.tolerance)
        plain = is_log_loss(self._objective_name)
        reached = None if data.checkpoint is None else data.checkpoint.load()
        if reached is None:
            weights, self.n_iter_, done = np.zeros(design.size), 0, 0
            if self.start == "log_loss" or plain:
                with part_of_time(1 if plain else 2):
                    loss = multinomial_log_loss(data.train)
                    weights, steps = search(loss, weights, self.alpha)
                    self.n_iter_ += max(1, steps)
            started = weights
            self._keep(data, started, weights, 0.0, done)
        else:
            started, weights = (reached[name].numpy() for name in ("started", "weights"))
            self.n_iter_, done = (reached[name] for name in ("n_iter", "done"))
        if not plain:
            steps_of_all = 1 if self.start == "log_loss" else 3
            for step in range(done, steps_of_all):
                with part_of_time(steps_of_all - step):
                    logits = design.logits(weights)
                    name = self._objective_name
                    loss, ridge = class_loss(name, logits, data.train, self.proximity)
                    weights, steps = search(loss, weights, ridge)
                    self.n_iter_ += max(1, steps)
                self._keep(data, started, weights, 0.0, step + 1)
            before, after = (
                data.evaluate(odds_of(_logits(data.held_out.X, *design.unscaled(each))))
                for each in (started, weights)
            )
            weights = started if after < before else weights
        self.coef_, self.intercept_ = design.unscaled(weights)

    def _keep(
        self, data: Training, started: Vector, weights: Vector, intercept: float, done: int
    ) -> None:
        """Save the result of ``done`` searches of the objective."""
        if data.checkpoint is not None:
            arrays = {"started": started, "weights": weights}
            found = {name: torch.from_numpy(array) for name, array in arrays.items()}
            numbers = {"intercept": intercept, "n_iter": self.n_iter_, "done": done}
            data.checkpoint.save({**found, **numbers})

    def _metric_step(self, design: Design, part: Part, prior: float, weights: Vector) -> Vector:
        """Search the minimum of the objective as it is at ``weights``."""
        target, weight, groups = _tensors(part)
        if not is_graded(self._objective_name):
            target = target > 0  # booleans need no check in every call
        objective = make_stateless(self._objective_name, prior if groups is None else None)
        scores = design.scores(weights)
        if isinstance(objective, AveragePrecision) and objective.score_scale == "auto":
            spread = spread_of(scores, part.weight)
            weights, scores = weights / spread, scores / scores.dtype.type(spread)
        loss = fixed_at(objective, torch.from_numpy(scores), target, weight, groups)
        return self._search(design, loss, weights, self.proximity)

    def _search(
        self, design: Design, loss: Callable[[Tensor], Tensor], start: Vector, ridge: float
    ) -> Vector:
        found, steps = search(
            design, loss, start, ridge=ridge, max_iter=self.max_iter, tolerance=self.tolerance
        )
        self.n_iter_ += max(1, steps)
        return found


def _of_search(design: Design, data: Training, number: int) -> tuple[Design, Part]:
    """Return the rows that a search learns from: all, or some row groups."""
    rows = data.epoch_rows(number)
    return (design, data.train) if rows is None else (design.of_rows(rows), data.train.rows(rows))


def _logits(X: Matrix, coefficients: Vector, intercepts: Vector) -> Floats:
    """Return the logits of rows, a class at a time: rows on disk are multiplied by vectors."""
    return np.stack([X @ c + b for c, b in zip(coefficients, intercepts, strict=True)], axis=1)


def _tensors(part: Part) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Return target, weight and groups of the rows."""
    others = (part.weight, part.groups)
    weight, groups = (None if a is None else torch.from_numpy(a) for a in others)
    return torch.from_numpy(part.target), weight, groups
