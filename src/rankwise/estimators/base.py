"""What all rankers share: scikit-learn's contract around a model that scores rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from rankwise.checks import require_one_of
from rankwise.estimators._classes import ClassCalibrator, class_value, prior_of, shares_of
from rankwise.estimators._decisions import Rule, calibrate, parse_rule
from rankwise.estimators._files import Checkpoint, fingerprint, load_ranker, save_ranker
from rankwise.estimators._holdout import hold_out, set_aside
from rankwise.estimators._inputs import (
    learn_features,
    read_features,
    read_groups,
    read_target,
    read_validation,
    read_weight,
)
from rankwise.estimators._parquet import ParquetRows
from rankwise.estimators.data import (
    Floats,
    Loaded,
    Matrix,
    Part,
    State,
    TableLike,
    Training,
    Vector,
)
from rankwise.estimators.limits import threads_for
from rankwise.estimators.names import (
    entry_of,
    is_graded,
    is_of_classes,
    metric_name,
    metric_value,
    require_metric,
)
from rankwise.estimators.preparation import Preparation
from rankwise.estimators.processes import world_size
from rankwise.metrics import OperatingPoint
from rankwise.naming import name_of
from rankwise.objectives import Objective
from rankwise.serving.calibration import Calibrator

Calibration: TypeAlias = Literal["sigmoid", "isotonic"] | None
RandomState: TypeAlias = int | np.random.RandomState | None


@dataclass(eq=False, repr=False)
class Ranker(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A scikit-learn classifier trained on the metric it is evaluated by (abstract base class).

    X may be an array, a sparse matrix, or a frame of pandas or polars with missing values, words,
    booleans and dates; lists and arrays of Python objects are read in the same way. A date becomes
    days since 1970 and, where they vary, the month, day of the month, day of the week and hour.
    A model that takes no missing values gets the median and an indicator; one that takes no
    categories gets indicators of the 64 most frequent. A word not seen in training counts as
    missing.

    ``y`` has two classes, or more where the ranker takes them (linear, boosted, neural): labels of
    any type. Of more than two classes every one is ranked against the rest, the objective and the
    metric are means over the classes, and :meth:`predict` returns the most likely class.

    Args:
        objective: A name as :func:`rankwise.objective` reads it: ``"ap"``, ``"auc"``,
            ``"opauc(max_fpr=.1)"``, ``"ndcg@10"``. ``"log_loss"`` trains plain cross-entropy.
            Or an objective, such as an :class:`~rankwise.objectives.XRisk` of your own.
        metric: Name of the metric of :meth:`score` and early stopping. None: the metric of the
            objective (log-loss: average precision). With more than two classes a name as
            :func:`rankwise.naming.class_metric` reads it, such as ``"auc(scheme=ovo)"``.
        threshold: Which rows :meth:`predict` calls positive: a probability, by default 0.5 as
            everywhere in scikit-learn, which few rows of a rare class reach; a rule of
            :func:`rankwise.metrics.choose_threshold`, for the rows held out: ``"f1"``,
            ``"precision>=0.9"``, ``"recall>=0.9"``, ``"fpr<=0.05"``, ``"alerts<=20/10000"`` (rows);
            or ``"top=100"`` (the top 100 rows of the table that is predicted). With a confidence,
            such as ``"precision>=0.9@95%"``, the limit holds for new rows with this probability:
            another ``validation_fraction`` of the rows is set aside for the threshold alone. For
            two classes only.
        calibration: How scores become probabilities: ``"sigmoid"``, ``"isotonic"``, or None for
            the plain logistic function. The probabilities always rank the rows as the scores do.
            Of more than two classes each is calibrated against the rest; the results are divided by
            their sum.
        validation_fraction: Share of each class (of the lists, with ``groups``) that is held out.
            It chooses the threshold, the calibration and when to stop. Equal rows stay together.
            With 0, or where a class has a single row, the training rows are used instead.
        random_state: Seed of the rows held out and of all other randomness.
        text: Columns of free text, by name (by number where X has no names). They become TF-IDF
            features of their 256 most frequent terms; any other column of words is a category.

    Attributes:
        classes_: The labels of ``y`` in ascending order; of two the last is the positive one.
        prior_: Weighted share of positives, or the shares of more than two classes.
        held_out_: Number of rows held out.
        threshold_: The score above which a row is positive; 0 with more than two classes.
        operating_point_: The threshold with its rates on the rows that chose it, an
            :class:`~rankwise.metrics.OperatingPoint`; None where no rows chose it.
        preparation_: What every column becomes: ``preparation_.names`` are the prepared columns,
            ``preparation_.sources`` the input columns they are made from.
        n_features_in_: Number of columns of X; ``feature_names_in_`` are their names.

    **To write a subclass**, set ``takes_missing`` (NaN in X), ``takes_categories`` (columns of
    words, given as whole numbers 0, 1, … in the order of ``preparation_.categories``, NaN for
    missing and unknown) and ``takes_sparse``; input of another kind is prepared for the model.
    ``takes_disk`` allows :meth:`fit_parquet`: rows may be a
    :class:`~rankwise.boosting.disk.DiskMatrix`; ``takes_partial_epochs`` allows its
    ``epoch_fraction``: each pass learns from ``data.epoch_rows(number)``. ``takes_classes`` allows
    more than two classes: the target then holds class numbers, ``data.train.classes`` is their
    number, and scores are log-odds of the shape (rows, classes).
    Declare its parameters as fields of a ``@dataclass(kw_only=True, eq=False, repr=False)``, or
    repeat all of them in ``__init__``. Then implement

    - :meth:`_fit_scores`, which learns from ``data.train``, stops by ``data.evaluate(scores)`` of
      ``data.held_out``, and draws random numbers from ``data.seed``; it saves its progress in
      ``data.checkpoint``, if there is one; fitted attributes end in ``_`` (or begin with it);
    - :meth:`_scores`, the scores of rows;
    - :meth:`_state`, everything :meth:`_scores` needs, as arrays and text; and :meth:`_restore`,
      which takes that back (every number may come back as a zero-dimensional array).

    Parameters are checked in :meth:`_check_options` (call the base class's), not in ``__init__``.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from rankwise.estimators import LinearRanker, Ranker
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> y = X[:, 0] > 1
        >>> model = LinearRanker("ap", random_state=0).fit(X, y)
        >>> path = model.save(tempfile.mkdtemp() + "/model.rank")
        >>> Ranker.load(path).score(X, y)
        1.0
    """

    takes_missing: ClassVar[bool] = False
    takes_categories: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = True
    takes_disk: ClassVar[bool] = False
    takes_partial_epochs: ClassVar[bool] = False
    takes_classes: ClassVar[bool] = False

    objective: str | Objective = "ap"
    _: KW_ONLY
    metric: str | None = None
    threshold: str | float = 0.5
    calibration: Calibration = "sigmoid"
    validation_fraction: float = 0.2
    random_state: RandomState = None
    text: Sequence[str] | None = None

    classes_: NDArray[np.generic] = field(init=False)
    prior_: float | Vector = field(init=False)
    held_out_: int = field(init=False)
    threshold_: float = field(init=False)
    operating_point_: OperatingPoint | None = field(init=False)
    n_features_in_: int = field(init=False)
    preparation_: Preparation = field(init=False)
    calibrator_: Calibrator | ClassCalibrator = field(init=False)

    @property
    def categories_(self) -> dict[int, NDArray[np.str_]]:
        """The categories of the columns of words, by the number of the column."""
        check_is_fitted(self)
        return self.preparation_.levels

    @abstractmethod
    def _fit_scores(self, data: Training) -> None:
        """Learn from ``data.train``."""

    @abstractmethod
    def _scores(self, X: Matrix) -> NDArray[np.floating]:
        """Return one score per row, or per row and class."""

    @abstractmethod
    def _state(self) -> State:
        """Return what was learned, as arrays and text."""

    @abstractmethod
    def _restore(self, state: Loaded) -> None:
        """Restore what :meth:`_state` returned."""

    def _work(self, data: Training) -> float:
        """Estimate the number of multiplications of a training step."""
        return float(np.prod(data.train.X.shape, dtype=np.float64))

    def _require(self, check: Callable[..., None], *names: str, **bounds: float) -> None:
        """Check parameters that are not None."""
        for name in names:
            if getattr(self, name) is not None:
                check(name, getattr(self, name), **bounds)

    def _check_options(self) -> None:
        """Check the parameters."""
        entry_of(self._objective_name)
        require_metric(self._metric_name)
        if self.calibration is not None:
            require_one_of("calibration", self.calibration, ("sigmoid", "isotonic"))
        fraction = self.validation_fraction
        if not (isinstance(fraction, (int, float)) and 0 <= fraction < 1):
            raise ValueError(f"validation_fraction must be in [0, 1), got {fraction!r}")
        parse_rule(self.threshold)

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        validation: tuple[object, ...] | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from rows with targets of two classes, or of several.

        Args:
            X: The rows, (rows, columns).
            y: The target of every row.
            sample_weight: Weight of every row; 2 counts as the row twice.
            groups: Which list a row belongs to (query, user). With it, objectives of graded
                relevances, such as ``"ndcg"``, take more than two values in ``y``.
            validation: ``(X, y[, groups[, sample_weight]])``: rows held out by the caller in place
                of ``validation_fraction`` of the rows; all of ``X`` is then learned from.
            checkpoint: A file in which the training saves its progress. A fit that finds one of
                the same options and rows resumes it, to the same model as an uninterrupted fit. A
                network resumes after the last epoch, trees after the last set of them that was
                grown, a linear model after the last search.

        Returns:
            The fitted ranker itself.
        """
        self._check_options()
        rows, labels, weight = learn_features(self, X, y, sample_weight)
        count, lists = len(labels), read_groups(groups, len(labels))
        graded, several = self._kinds_of_target(grouped=lists is not None)
        if validation is None:
            found = read_target(labels, graded=graded, several=several)
            (self.classes_, target), held_out = found, None
        else:
            kinds = {"graded": graded, "several": several, "grouped": lists is not None}
            self.classes_, target, held_out = read_validation(self, validation, labels, **kinds)
        part = Part(rows, target[:count], weight, lists, len(self.classes_))
        return self._learn(part, held_out, checkpoint)

    def _kinds_of_target(self, *, grouped: bool) -> tuple[bool, bool]:
        """Return whether y may hold relevances, and whether it may hold several classes."""
        graded = is_graded(self._objective_name)
        return grouped and graded, self.takes_classes and not grouped and not graded

    def fit_parquet(
        self,
        path: str | Path,
        target: str | ArrayLike,
        *,
        weight: str | ArrayLike | None = None,
        groups: str | ArrayLike | None = None,
        drop: Collection[str] = (),
        rows: ArrayLike | None = None,
        epoch_fraction: float = 1.0,
        folder: str | Path | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from the rows of a parquet file that need not fit into memory.

        The model is that of :meth:`fit` on the columns of the file, up to rounding: features are
        kept as 32-bit numbers. In memory are the target, the weights, the lists and some numbers
        per row; the features are in a temporary folder, which takes 4 bytes a value (a linear model
        twice that) and is deleted at the end.

        Args:
            path: The parquet file, or a folder of files ``*.parquet``, in the order of their names.
            target: Column of the target, or an array with the target of every row.
            weight: Column of the weights of the rows, or an array of them.
            groups: Column of the list of a row, as ``groups`` of :meth:`fit`, or an array.
            drop: Columns that are not features.
            rows: Numbers of the rows to learn from, from 0 and ascending; arrays have a value for
                each of these. None: all rows.
            epoch_fraction: Share of the row groups (65 536 consecutive rows each) that an epoch of
                a network, or a search of a linear model, learns from; the next one draws others.
                The rows held out are always scored as a whole. Below 1 without ``groups`` only;
                trees learn from all rows.
            folder: Where the temporary folder is made. None: where the system has such folders.
            checkpoint: See :meth:`fit`.

        Returns:
            The fitted ranker itself.

        Raises:
            ValueError: The file cannot be read, or does not have one of the columns.

        Example:
            >>> import tempfile
            >>> import numpy as np
            >>> import polars as pl
            >>> from rankwise.estimators import LinearRanker
            >>> x = np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
            >>> frame = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": x[:, 0] > 1})
            >>> path = tempfile.mkdtemp() + "/rows.parquet"
            >>> frame.write_parquet(path)
            >>> model = LinearRanker("ap", random_state=0).fit_parquet(path, "y")
            >>> model.score(frame.select("a", "b"), frame["y"])
            1.0
        """
        self._check_options()
        if not self.takes_disk:
            raise ValueError(f"{type(self).__name__} needs all rows in memory: use fit(X, y)")
        if not 0 < epoch_fraction <= 1:
            raise ValueError(f"epoch_fraction must be in (0, 1], got {epoch_fraction!r}")
        if epoch_fraction < 1 and (groups is not None or not self.takes_partial_epochs):
            raise ValueError(
                f"epoch_fraction must be 1 for {type(self).__name__} and with groups, got "
                f"{epoch_fraction!r}; pass rows= to learn from some of the rows"
            )
        chosen = None if rows is None else np.asarray(rows, dtype=np.int64)
        source = ParquetRows(Path(path), target, weight, groups, drop, chosen)
        with TemporaryDirectory(prefix="rankwise-", dir=folder) as temporary:
            self.classes_, part = source.read(self, Path(temporary))
            return self._learn(part, None, checkpoint, epoch_fraction)

    def _learn(
        self,
        part: Part,
        held_out: Part | None,
        checkpoint: str | Path | None,
        epoch_fraction: float = 1.0,
    ) -> Self:
        """Fit the scores, the calibration and the threshold."""
        rule, alone = parse_rule(self.threshold), None
        self._require_for_classes(rule)
        if rule.confidence is not None:
            fraction = float(self.validation_fraction)
            part, alone = set_aside(part, self.threshold, fraction, self._drawn_seed())
        data = replace(self._training(part, held_out), epoch_fraction=epoch_fraction)
        if checkpoint is not None:
            parts = (data.train, data.held_out) if data.splits else (data.train,)
            asked = {
                "model": type(self).__name__,
                **self.get_params(deep=False),
                "random_state": data.seed,  # what a generator has come to
                "data": fingerprint(*parts),
                "world_size": world_size(),
                **({} if epoch_fraction == 1 else {"epoch_fraction": epoch_fraction}),
            }
            asked.pop("verbose", None)  # changes nothing
            data = replace(data, checkpoint=Checkpoint(Path(checkpoint), asked))
        with threads_for(self._work(data)):
            self._fit_scores(data)
        scores = self._finite(self._scores_held_out(data))
        if data.shares is not None:
            self.calibrator_ = ClassCalibrator.learn(self.calibration, scores, data.held_out)
            self.operating_point_, self.threshold_ = None, 0.0
            return self
        positive, weight = data.held_out.positive, data.held_out.weight
        self.calibrator_ = calibrate(self.calibration, scores, positive, weight)
        if alone is not None:
            scores, positive = self._finite(self._scores(alone.X)), alone.target > 0
        self.operating_point_ = rule.point(scores, positive, weight)
        if self.operating_point_ is None:
            self.threshold_ = rule.score(scores, positive, weight, self.calibrator_)
        else:
            self.threshold_ = self.operating_point_.threshold
        return self

    def _require_for_classes(self, rule: Rule) -> None:
        """Raise on options that are not for the number of classes of y."""
        classes = len(self.classes_)
        require_metric(self._metric_name, classes)
        if classes == 2 and is_of_classes(self._objective_name):
            raise ValueError(
                f"objective {self._objective_name!r} is of more than two classes, and y has two; "
                "use 'auc' or another objective of two classes"
            )
        if classes > 2 and (rule.kind, rule.value) != ("probability", 0.5):
            raise ValueError(
                f"threshold {self.threshold!r} is for two classes, and y has {classes}: leave it "
                "out, and the most likely class is predicted"
            )

    def _drawn_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _training(self, part: Part, held_out: Part | None = None) -> Training:
        part = part.weighted_rows()
        prior, shares = 0.5, shares_of(part, self.classes_)
        if shares is None:
            prior = self.prior_ = prior_of(part, self.classes_)
        else:
            self.prior_ = shares
        seed = self._drawn_seed()
        evaluate = metric_value if shares is None else class_value
        train, metric = part, partial(evaluate, self._metric_name)
        if held_out is None:
            held = hold_out(part, float(self.validation_fraction), seed)
            if held.any():
                train, held_out = part.rows(~held), part.rows(held)
        self.held_out_ = 0 if held_out is None else len(held_out)
        held_out = train if held_out is None else held_out
        return Training(train, held_out, prior, seed, metric, shares=shares)

    def _scores_held_out(self, data: Training) -> Floats:
        """Return scores of the rows held out, each by a model that did not learn from it."""
        return self._scores(data.held_out.X)

    def _finite(self, found: Floats) -> Vector:
        scores = np.asarray(found, dtype=np.float64)
        if not np.isfinite(scores).all():
            raise ValueError(
                f"the scores of {type(self).__name__} are not finite: the training has diverged, "
                "or X holds values too large for it; scale X or take a smaller step"
            )
        return scores

    def _raw_scores(self, X: TableLike) -> Vector:
        check_is_fitted(self)
        return self._finite(self._scores(read_features(self, X)))

    def decision_function(self, X: TableLike) -> Vector:
        """Return the score of every row, shifted so that those above 0 are called positive.

        Of more than two classes the calibrated log-odds of each against the rest, (rows, classes).
        """
        scores = self._raw_scores(X)
        if isinstance(self.calibrator_, ClassCalibrator):
            return self.calibrator_.decision(scores)
        return scores - self.threshold_

    def predict_proba(self, X: TableLike) -> Vector:
        """Return the probabilities of the classes, (rows, classes), as calibrated."""
        scores = self._raw_scores(X)
        if isinstance(self.calibrator_, ClassCalibrator):
            return self.calibrator_.probability(scores)
        positive = self.calibrator_.probability(scores)
        return np.stack([1 - positive, positive], axis=1)

    def predict(self, X: TableLike) -> NDArray[np.generic]:
        """Return the class of every row in the labels of ``y``.

        Of two classes by the rule of the threshold, of more the most likely one.
        """
        check_is_fitted(self)
        if isinstance(self.calibrator_, ClassCalibrator):
            found: NDArray[np.generic] = self.classes_[self.decision_function(X).argmax(axis=1)]
            return found
        above = parse_rule(self.threshold).positive(self.decision_function(X))
        return self.classes_[above.astype(np.int64)]

    def score(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> float:
        """Compute the metric on these rows; larger is better.

        A metric of which lower is better, such as ``fpr_at_tpr(.95)``, is returned negative.
        """
        scores = self._raw_scores(X)
        lists = read_groups(groups, len(scores))
        graded = lists is not None and is_graded(self._objective_name)
        _, target = read_target(y, graded=graded, classes=self.classes_, rows=len(scores))
        weight = read_weight(sample_weight, target)
        evaluate = metric_value if len(self.classes_) == 2 else class_value
        return evaluate(self._metric_name, scores, Part(scores, target, weight, lists))

    @property
    def _objective_name(self) -> str:
        return name_of(self.objective)

    @property
    def _metric_name(self) -> str:
        return metric_name(self._objective_name) if self.metric is None else self.metric

    def save(self, path: str | Path) -> Path:
        """Write the fitted model into one file (JSON and arrays in a zip, no pickle)."""
        check_is_fitted(self)
        return save_ranker(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that :meth:`save` wrote; ``Ranker.load`` reads that of any ranker."""
        return load_ranker(cls, Path(path))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.takes_classes
        tags.input_tags.sparse = self.takes_sparse
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = False
        return tags
