"""What all rankers share: the scikit-learn contract around a model that scores rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d

from rankwise.checks import require_one_of
from rankwise.estimators.calibration import Calibrator, calibrate
from rankwise.estimators.checkpoint import Checkpoint, fingerprint
from rankwise.estimators.data import Floats, Part, Training
from rankwise.estimators.features import learn_features, read_features
from rankwise.estimators.files import load_ranker, save_ranker
from rankwise.estimators.names import entry_of, is_graded, metric_name, value
from rankwise.estimators.preparation import Preparation
from rankwise.estimators.split import hold_out
from rankwise.estimators.targets import read_groups, read_target, read_weight
from rankwise.estimators.threads import threads_for
from rankwise.estimators.threshold import Rule, parse_rule
from rankwise.estimators.validation import read_validation
from rankwise.naming import metric as named_metric

__all__ = ["Calibration", "Ranker", "State"]

Calibration = Literal["sigmoid", "isotonic"] | None
State = dict[str, NDArray[Any] | str]


class Ranker(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A model trained on the metric it is judged by. Abstract: see the three that are made of it.

    objective
        A name as :func:`rankwise.objective` reads it: ``"ap"``, ``"auc"``, ``"opauc(max_fpr=.1)"``,
        ``"ndcg@10"``. ``"log_loss"`` trains plain cross-entropy.
    metric
        What :meth:`score` and early stopping judge by, a name of a metric; None: that of the
        objective (log-loss: average precision).
    threshold
        What :meth:`predict` calls positive: a probability, by default 0.5 as everywhere in
        scikit-learn, which few rows of a rare class reach; ``"f1"`` (the best F1 on the rows held
        out), ``"precision>=0.9"`` (the highest recall at that precision), ``"fpr<=0.05"`` (the
        highest recall at that false positive rate), or ``"top=100"`` (the 100 highest rows of the
        table that is predicted).
    calibration
        How scores become probabilities: ``"sigmoid"``, ``"isotonic"``, or None for the plain
        logistic function. The probabilities always rank the rows as the scores do.
    validation_fraction
        Share of each class (of the lists, with ``groups``) that is not learned from. It chooses the
        threshold, the calibration and when to stop. Equal rows stay together. With 0, or where a
        class has a single row, the training rows do this.
    random_state
        Which rows are held out, and whatever else is random.
    text
        Columns of free text, by name (by number where X has no names). They become TF-IDF features
        of their 256 most frequent terms; any other column of words is a category.

    X may be an array, a sparse matrix, or a frame of pandas or polars with missing values, words,
    booleans and dates; lists and arrays of Python objects are read in the same way. A date becomes
    days since 1970 and, where they vary, the month, day of the month, day of the week and hour.
    A model that takes no missing values gets the median and a mark; one that takes no categories
    gets indicators of the 64 most frequent. A word that was not in training counts as missing.

    Fitted: ``classes_``, ``prior_`` (weighted share of positives), ``held_out_`` (how many rows
    were), ``threshold_`` (the score above which a row is positive), ``n_features_in_``,
    ``feature_names_in_``, ``preparation_`` (what every column becomes: ``preparation_.names`` are
    the prepared columns, ``preparation_.sources`` the input columns they are made from),
    ``categories_`` (of the columns of words, by column number).

    **To write a subclass**: set ``takes_missing`` (NaN in X), ``takes_categories`` (columns of
    words, given as whole numbers 0, 1, … in the order of ``preparation_.categories``, NaN for
    missing and unknown) and ``takes_sparse``; what a model does not take is prepared for it. Repeat
    the parameters in ``__init__`` and hand them to ``super().__init__``; then give

    - :meth:`_fit_scores`, which learns from ``data.train``, stops by ``data.judge(scores)`` of
      ``data.held_out``, and draws what is random from ``data.seed``; what it can go on from it
      leaves in ``data.checkpoint``, if there is one; fitted attributes end in ``_`` (or begin
      with it);
    - :meth:`_scores`, the scores of rows;
    - :meth:`_state`, everything :meth:`_scores` needs, as arrays and text; and :meth:`_restore`,
      which takes that back (every number may come back as a zero-dimensional array).

    Options are checked in :meth:`_check_options` (call the one above), not in ``__init__``.
    """

    takes_missing: ClassVar[bool] = False
    takes_categories: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = True

    classes_: NDArray[Any]
    prior_: float
    held_out_: int
    threshold_: float
    n_features_in_: int
    preparation_: Preparation
    calibrator_: Calibrator

    def __init__(
        self,
        objective: str,
        *,
        metric: str | None,
        threshold: str | float,
        calibration: Calibration,
        validation_fraction: float,
        random_state: Any,
        text: Sequence[str] | None = None,
    ) -> None:
        self.objective = objective
        self.metric = metric
        self.threshold = threshold
        self.calibration = calibration
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.text = text

    @property
    def categories_(self) -> dict[int, NDArray[Any]]:
        """The levels of the columns of words, by the number of the column."""
        check_is_fitted(self)
        return self.preparation_.levels

    @abstractmethod
    def _fit_scores(self, data: Training) -> None:
        """Learn from ``data.train``."""

    @abstractmethod
    def _scores(self, X: Any) -> Floats:
        """One score per row; ``X`` is as in :class:`~rankwise.estimators.data.Part`."""

    @abstractmethod
    def _state(self) -> State:
        """What was learned, as arrays and text."""

    @abstractmethod
    def _restore(self, state: Mapping[str, Any]) -> None:
        """Take back what :meth:`_state` gave."""

    def _work(self, data: Training) -> float:
        """About how many multiplications a step of the training takes."""
        return float(np.prod(data.train.X.shape, dtype=np.float64))

    def _check_options(self) -> Rule:
        """Refuse options that make no sense; the threshold's rule as read."""
        entry_of(self.objective)
        named_metric(self._metric_name)
        if self.calibration is not None:
            require_one_of("calibration", self.calibration, ("sigmoid", "isotonic"))
        fraction = self.validation_fraction
        if not (isinstance(fraction, (int, float)) and 0 <= fraction < 1):
            raise ValueError(f"validation_fraction must be in [0, 1), got {fraction!r}")
        return parse_rule(self.threshold)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        validation: tuple[Any, ...] | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from rows ``X`` with targets ``y`` of two classes.

        ``sample_weight`` is one number per row, 2 counts as the row twice. ``groups`` says which
        list a row belongs to (query, user); with it objectives of graded relevances, such as
        ``"ndcg"``, take more than two values in ``y``.

        ``validation`` is ``(X, y[, groups[, sample_weight]])``: rows that you hold out yourself.
        They do what ``validation_fraction`` of the rows do otherwise, and all of ``X`` is learned
        from.

        ``checkpoint`` is a file: the training leaves there what it has reached, and a fit that
        finds one of the same options and rows goes on from it, to the same model as one that was
        never stopped. A network goes on after the last epoch, trees after the last set of them
        that was grown, a linear model after the last search.
        """
        rule = self._check_options()
        rows, y, weight = learn_features(self, X, y, sample_weight)
        lists = read_groups(groups, len(y))
        graded = lists is not None and is_graded(self.objective)
        held_out = None
        if validation is None:
            self.classes_, target = read_target(y, graded=graded)
        else:
            given = read_validation(self, validation, grouped=lists is not None)
            every = np.concatenate([column_or_1d(y, warn=True), given.y])
            self.classes_, target = read_target(every, graded=graded)
            held_out = given.part(target[len(y) :])
            target = target[: len(y)]
        everything = Part(rows, target, weight, lists)
        data = self._training(everything, held_out)
        if checkpoint is not None:
            data = replace(data, checkpoint=self._checkpoint(Path(checkpoint), data))
        with threads_for(self._work(data)):
            self._fit_scores(data)
        scores = self._checked_scores(data.held_out.X)
        positive, weight = data.held_out.target > 0, data.held_out.weight
        self.calibrator_ = calibrate(self.calibration, scores, positive, weight)
        self.threshold_ = rule.score(scores, positive, weight, self.calibrator_)
        return self

    def _checkpoint(self, path: Path, data: Training) -> Checkpoint:
        parts = (data.train, data.held_out) if data.splits else (data.train,)
        shown = ("verbose",)  # changes nothing
        asked = {
            "model": type(self).__name__,
            **{n: v for n, v in self.get_params(deep=False).items() if n not in shown},
            "random_state": data.seed,  # what a generator has come to
            "data": fingerprint(*parts),
        }
        return Checkpoint(path, asked)

    def _training(self, part: Part, held_out: Part | None = None) -> Training:
        if part.weight is not None and not part.weight.all():
            part = part.rows(part.weight > 0)  # a row of weight 0 is not there
        positive = part.target > 0
        if positive.all() or not positive.any():
            raise ValueError(
                "y must contain both classes among the rows with a weight above 0, "
                f"got only the class {self.classes_[int(positive.any())]!r}"
            )
        self.prior_ = float(np.average(positive, weights=part.weight))
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        train, metric = part, self._metric_name
        if held_out is None:
            held = hold_out(part, float(self.validation_fraction), seed)
            if held.any():
                train, held_out = part.rows(~held), part.rows(held)
        self.held_out_ = 0 if held_out is None else len(held_out)
        return Training(
            train,
            train if held_out is None else held_out,
            self.prior_,
            seed,
            lambda scores, part: value(metric, scores, part),
        )

    def _checked_scores(self, X: Any) -> NDArray[np.float64]:
        scores = np.asarray(self._scores(X), dtype=np.float64)
        if not np.isfinite(scores).all():
            raise ValueError(
                f"the scores of {type(self).__name__} are not finite: the training has diverged, "
                "or X holds values too large for it; scale X or take a smaller step"
            )
        return scores

    def _raw_scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._checked_scores(read_features(self, X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of every row, shifted so that those above 0 are called positive."""
        return self._raw_scores(X) - self.threshold_

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the two classes, (rows, 2), calibrated on the rows held out."""
        scores = self._raw_scores(X)
        positive = self.calibrator_.probability(scores)
        return np.stack([1 - positive, positive], axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every row by the threshold's rule, in the labels of ``y``."""
        above = parse_rule(self.threshold).positive(self.decision_function(X))
        chosen: NDArray[Any] = self.classes_[above.astype(np.int64)]
        return chosen

    def score(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> float:
        """The metric of the objective on these rows; larger is better."""
        scores = self._raw_scores(X)
        lists = read_groups(groups, len(scores))
        graded = lists is not None and is_graded(self.objective)
        _, target = read_target(y, graded=graded, classes=self.classes_, rows=len(scores))
        weight = read_weight(sample_weight, scores[:, None])
        return value(self._metric_name, scores, Part(None, target, weight, lists))

    @property
    def _metric_name(self) -> str:
        return metric_name(self.objective) if self.metric is None else self.metric

    def save(self, path: str | Path) -> Path:
        """Write the fitted model into one file (JSON and arrays in a zip, no pickle)."""
        check_is_fitted(self)
        return save_ranker(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that :meth:`save` wrote; ``Ranker.load`` reads that of any ranker."""
        return load_ranker(cls, Path(path))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = self.takes_sparse
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = False
        return tags
