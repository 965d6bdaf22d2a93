"""A saved model that scores rows with numpy alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.errors import UsageError, foreign_errors
from rankwise.files import read_npz
from rankwise.serving.calibration import Calibrator, apply_ranks
from rankwise.serving.files import RANKS, Header, Parts, ranker_file, read_model_header, read_ranker
from rankwise.serving.inputs import prepared_rows
from rankwise.serving.preparation import Preparation
from rankwise.serving.trees.read import read_trees
from rankwise.serving.trees.tables import TreeTables

Floats = NDArray[np.float64]
Scores = Callable[[Floats], Floats]
LINEAR = ("LinearRanker", "PApAtKRanker")
BOOSTED, NEURAL = "BoostedRanker", "NeuralRanker"


class Scorer(ABC):
    """A saved model without the libraries it was trained with: :func:`load_scorer` returns one.

    Rows are a matrix, a frame of pandas or polars, records (a list of mappings) or columns by name
    (a mapping). Missing values are None or NaN, dates may be written in ISO 8601. A word that was
    not in the fit counts as missing.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from rankwise.estimators import LinearRanker
        >>> from rankwise.serving import load_scorer
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> path = tempfile.mkdtemp() + "/model.rank"
        >>> scorer = load_scorer(LinearRanker(random_state=0).fit(X, X[:, 0] > 1).save(path))
        >>> scorer.probabilities(X[:2]).shape
        (2,)
    """

    @abstractmethod
    def scores(self, rows: Any) -> Floats:
        """Return the score of every row, as ``decision_function`` does: higher ranks first."""

    @abstractmethod
    def probabilities(self, rows: Any) -> Floats:
        """Return the calibrated probability of the positive class of every row."""


@dataclass(frozen=True, eq=False)
class RankerScorer(Scorer):
    """One ranker."""

    raw: Scores  # scores of prepared rows
    preparation: Preparation
    names: tuple[str, ...] | None  # of the columns, where they had names
    threshold: float
    calibrator: Calibrator

    def raw_scores(self, rows: Any) -> Floats:
        """Return the scores before the threshold is subtracted."""
        return self.raw(prepared_rows(rows, self.preparation, self.names))

    def scores(self, rows: Any) -> Floats:
        return self.raw_scores(rows) - self.threshold

    def probabilities(self, rows: Any) -> Floats:
        return self.calibrator.probability(self.raw_scores(rows))


@dataclass(frozen=True, eq=False)
class EnsembleScorer(Scorer):
    """The mean of the ranks of several rankers, and of their probabilities."""

    members: tuple[RankerScorer, ...]
    knots: tuple[Floats, ...]

    def scores(self, rows: Any) -> Floats:
        pairs = zip(self.members, self.knots, strict=True)
        found: Floats = np.mean([apply_ranks(k, each.scores(rows)) for each, k in pairs], axis=0)
        return found

    def probabilities(self, rows: Any) -> Floats:
        found: Floats = np.mean([each.probabilities(rows) for each in self.members], axis=0)
        return found


def load_scorer(path: str | Path) -> Scorer:
    """Load a saved linear or boosted model, to score rows with numpy alone.

    Neither torch nor LightGBM, XGBoost or scikit-learn is imported. The SHA-256 of every file is
    verified, and nothing in them is executed. Scores and probabilities are those of the
    estimator (``decision_function``, ``predict_proba``) or of ``rankwise predict``.

    Args:
        path: File of :meth:`Ranker.save <rankwise.estimators.Ranker.save>`, or folder of a run
            of ``rankwise compare`` or of its model.

    Returns:
        The model.

    Raises:
        UsageError: It is not such a file, is damaged, holds a network or more than two classes.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from rankwise.estimators import LinearRanker
        >>> from rankwise.serving import load_scorer
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> model = LinearRanker("ap", random_state=0).fit(X, X[:, 0] > 1)
        >>> scorer = load_scorer(model.save(tempfile.mkdtemp() + "/model.rank"))
        >>> bool(np.allclose(scorer.scores(X), model.decision_function(X), atol=1e-12))
        True
    """
    path = Path(path)
    if not path.exists():
        raise UsageError(f"{path}: there is no such model")
    if not path.is_dir():
        return _load_ranker(path)
    with foreign_errors(f"{path}: holds no model that rankwise wrote", ours_too=True):
        if (ranker := ranker_file(path)) is not None:
            return _load_ranker(ranker)
        folder, header = read_model_header(path)
        knots = read_npz(folder / RANKS)
        places = [str(number) for number in range(header["members"])]
        members = tuple(_load_ranker(folder / f"{place}.ranker") for place in places)
        if len(members) == 1:
            return members[0]
        return EnsembleScorer(members, tuple(knots[place] for place in places))


def _load_ranker(path: Path) -> RankerScorer:
    with foreign_errors(f"{path}: is not a model that Ranker.save wrote", ours_too=True):
        header, parts = read_ranker(path)
    with foreign_errors(f"{path}: is not a model that Ranker.save wrote"):
        try:
            require_two_classes(parts)
            return RankerScorer(_raw_scores(header, parts), **ranker_parts(header, parts))
        except UsageError as error:  # a model, but not one for numpy
            raise UsageError(f"{path}: {error}") from error


def require_two_classes(parts: Parts) -> None:
    """Raise for a model of more than two classes."""
    count = len(parts["classes"])
    if count > 2:
        raise UsageError(
            f"a model of {count} classes is scored by its estimator (Ranker.load, or rankwise "
            "predict); without these, models of two classes are"
        )


def ranker_parts(header: Header, parts: Parts) -> dict[str, Any]:
    """Return all but the scores themselves: preparation, names, threshold and calibrator."""
    slope, intercept, share = header["calibrator"]
    knots, values = parts["calibrator.knots"], parts["calibrator.values"]
    names = parts.get("feature_names")
    return {
        "preparation": Preparation.from_json(header["preparation"]),
        "names": None if names is None else tuple(map(str, names)),
        "threshold": float(header["fitted"]["threshold_"]),
        "calibrator": Calibrator(slope, intercept, share, knots, values),
    }


def _raw_scores(header: Header, parts: Parts) -> Scores:
    kind = header["class"]
    if kind in LINEAR:
        coefficients, intercept = linear_parts(parts)
        return lambda rows: rows @ coefficients + intercept
    if kind == BOOSTED:
        engine = header["params"]["engine"]
        start, sets = boosted_parts(header, parts)
        tables = [(TreeTables(read_trees(engine, text)), weight) for text, weight in sets]
        return lambda rows: _boosted(rows, start, tables)
    if kind == NEURAL:
        raise UsageError(
            "a network is not scored with numpy; export it to ONNX (rankwise export MODEL --out "
            "model.onnx) and run it with onnxruntime"
        )
    raise UsageError(
        f"a {kind} cannot be scored without its class; load it with {kind}.load, which needs "
        "rankwise.estimators"
    )


def linear_parts(parts: Parts) -> tuple[Floats, float]:
    """Return the coefficients of the prepared columns, and the intercept."""
    return np.asarray(parts["model.coef"][0], np.float64), float(parts["model.intercept"][0])


def boosted_parts(header: Header, parts: Parts) -> tuple[float, list[tuple[str, float]]]:
    """Return the first score, and the text of each set of trees with its weight."""
    blend, folds = float(parts["model.blend"]), int(header["params"]["folds"])
    weights: Mapping[str, float] = {"trees": blend, "log_loss_trees": 1 - blend}
    used: Sequence[tuple[str, float]] = [each for each in weights.items() if each[1] > 0]
    sets = []
    for fold, (name, weight) in product(range(folds), used):
        stem = name if folds == 1 else f"fold_{fold}_{name}"
        sets.append((parts[f"model.{stem}"], weight / folds))
    return float(parts["model.start"]), sets


def _boosted(rows: Floats, start: float, tables: list[tuple[TreeTables, float]]) -> Floats:
    scores = np.full(len(rows), start)
    for trees, weight in tables:
        scores += weight * trees(rows)
    return scores
