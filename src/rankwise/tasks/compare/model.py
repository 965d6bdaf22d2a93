"""A saved model: one ranker or several, with the columns they were trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data import DataError
from rankwise.data.disk import DiskFeatures
from rankwise.data.reading import Kind, Reading, Rule
from rankwise.data.table import Features, MemoryFeatures
from rankwise.errors import foreign_errors
from rankwise.estimators import Ranker
from rankwise.files import read_npz, sha256_of, whole_folder, write_npz, write_whole
from rankwise.seals import sealed_json
from rankwise.serving.calibration import apply_ranks
from rankwise.serving.files import (
    MODEL,
    MODEL_HEADER,
    MODEL_VERSION,
    RANKS,
    TRAINING_ROWS,
    read_model_header,
)
from rankwise.tasks.compare.training_rows import TrainingRows

Floats = NDArray[np.float64]

_KINDS: dict[str, Kind] = {
    "number": "numeric",
    "category": "categorical",
    "time": "time",
    "text": "text",
}


@dataclass(frozen=True, eq=False)
class Member:
    """A fitted ranker, and the ranks its scores had in training."""

    ranker: Ranker
    knots: tuple[Floats, ...] = ()  # one line per score of a row

    @classmethod
    def of(cls, ranker: Ranker, features: Features) -> Member:
        """Return a member with the ranks among the rows it was fitted on."""
        scores = cls(ranker).scores(features)
        columns = [scores] if scores.ndim == 1 else scores.T
        return cls(ranker, tuple(rank_knots(column) for column in columns))

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels of more than two classes, whose scores are (rows, classes); else empty."""
        labels = self.ranker.classes_
        return tuple(map(str, labels)) if len(labels) > 2 else ()

    def ranked(self, scores: Floats) -> Floats:
        """Return the log-odds of the ranks that scores would have had in training."""
        if scores.ndim == 1:
            return apply_ranks(self.knots[0], scores)
        pairs = zip(self.knots, scores.T, strict=True)
        return np.stack([apply_ranks(knots, column) for knots, column in pairs], axis=1)

    def scores(self, features: Features) -> Floats:
        """Return the score of every row, or of every row and class."""
        if isinstance(features, DiskFeatures):
            return np.concatenate([self.scores(batch) for batch in features.batches()])
        return self.ranker.decision_function(self._given(features))

    def probabilities(self, features: Features) -> Floats:
        """Return the calibrated probability of every row, or of every row and class."""
        if isinstance(features, DiskFeatures):
            return np.concatenate([self.probabilities(batch) for batch in features.batches()])
        found: Floats = self.ranker.predict_proba(self._given(features))
        return found if self.classes else found[:, 1]

    def _given(self, features: MemoryFeatures) -> MemoryFeatures:
        named = hasattr(self.ranker, "feature_names_in_")
        if not isinstance(features, pl.DataFrame):
            return features
        return features.select(self.ranker.feature_names_in_) if named else features.to_numpy()


@dataclass(frozen=True, eq=False)
class Model:
    """The mean of the members' ranks, or one member's scores as they are."""

    members: tuple[Member, ...]
    reading: Reading  # how the features are read from a file
    about: dict[str, str | None]  # target, positive, metric, candidate: for a reader of the folder
    training_rows: TrainingRows | None = None  # None: an estimator saved by itself
    labels: tuple[str, ...] = ()  # of more than two classes, as the table writes them

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels of more than two classes, in the order of the scores of a row; else empty."""
        return self.labels or self.members[0].classes

    def scores(self, features: Features) -> Floats:
        """Return the score of every row, higher first."""
        each = [member.scores(features) for member in self.members]
        return each[0] if len(each) == 1 else mean_rank(self.members, each)

    def probabilities(self, features: Features) -> Floats:
        """Return the mean of the members' calibrated probabilities."""
        found: Floats = np.mean([m.probabilities(features) for m in self.members], axis=0)
        return found

    def save(self, folder: Path) -> Path:
        """Write into a folder, which is there whole or not at all."""
        with whole_folder(folder) as made:
            header: dict[str, object] = {
                "format": MODEL,
                "version": MODEL_VERSION,
                "about": self.about,
                "reading": [asdict(rule) for rule in self.reading.rules],
                "members": len(self.members),
            }
            if self.training_rows is not None:
                known = self.training_rows
                header["training_rows"] = {"held_out": known.held_out, "repeated": known.repeated}
                write_npz(made / TRAINING_ROWS, {"hashes": known.hashes})
            for number, member in enumerate(self.members):
                member.ranker.save(made / f"{number}.ranker")
            if self.labels:
                header["classes"] = list(self.labels)
            knots = {
                _rank_name(n, c, len(member.knots)): line
                for n, member in enumerate(self.members)
                for c, line in enumerate(member.knots)
            }
            write_npz(made / RANKS, knots)
            # Each file has a seal; together they say that the files belong to each other.
            header["files"] = {path.name: sha256_of(path) for path in sorted(made.iterdir())}
            write_whole(made / MODEL_HEADER, sealed_json(header))
        return folder


def mean_rank(members: Sequence[Member], scores: Sequence[Floats]) -> Floats:
    """Return the mean of the log-odds of ranks that the scores of the members have."""
    ranked = [member.ranked(each) for member, each in zip(members, scores, strict=True)]
    mean: Floats = np.mean(ranked, axis=0)
    return mean


def _rank_name(member: int, column: int, columns: int) -> str:
    """Return the name of the ranks of a member, or of one of its classes."""
    return str(member) if columns == 1 else f"{member}.{column}"


def load_model(path: Path) -> Model:
    """Load the model in a folder, in a run's folder, or in a file of a single ranker."""
    if not path.exists():
        raise DataError(f"{path}: there is no such model")
    if path.is_file():
        return _of_ranker(path)
    with foreign_errors(f"{path}: holds no model that rankwise wrote", DataError, ours_too=True):
        folder, header = read_model_header(path)
        knots = read_npz(folder / RANKS)
        labels = tuple(map(str, header.get("classes", ())))
        columns = len(labels) or 1
        members = tuple(
            Member(
                Ranker.load(folder / f"{number}.ranker"),
                tuple(knots[_rank_name(number, c, columns)] for c in range(columns)),
            )
            for number in range(header["members"])
        )
        if any(len(member.classes) != len(labels) for member in members):
            raise ValueError("its rankers have other classes than the model")
        # The hashes of the rows may be left out of a model that is given away.
        counts = header.get("training_rows") if (folder / TRAINING_ROWS).exists() else None
        return Model(
            members,
            Reading(tuple(Rule(**rule) for rule in header["reading"])),
            header["about"],
            counts and TrainingRows(read_npz(folder / TRAINING_ROWS)["hashes"], **counts),
            labels,
        )


def _of_ranker(path: Path) -> Model:
    with foreign_errors(f"{path}: cannot be read", DataError):
        ranker = Ranker.load(path)
    places = range(ranker.n_features_in_)
    names = getattr(ranker, "feature_names_in_", [f"f{place + 1}" for place in places])
    kinds = [_KINDS[column.kind] for column in ranker.preparation_.columns]
    reading = Reading(tuple(map(Rule, map(str, names), kinds)))
    return Model((Member(ranker),), reading, {})


_KNOTS = 2048  # on either side of the middle


def rank_knots(scores: Floats) -> Floats:
    """Return scores of a reference, ascending, and the log-odds of their ranks: (2, knots).

    A score that is above the share p of the reference has the log-odds log(p/(1 − p)), so that
    the top hundred rows of a million are separated as well as the top hundred of a thousand.
    Large references keep every rank near the ends and some in the middle.
    """
    ordered, counts = np.unique(scores, return_counts=True)
    through = np.cumsum(counts)
    share = (through - counts / 2) / through[-1]
    odds = np.log(share) - np.log1p(-share)
    if len(ordered) > 2 * _KNOTS:
        spaced = np.linspace(odds[0], odds[-1], 2 * _KNOTS)
        kept = np.unique(np.searchsorted(odds, spaced).clip(max=len(odds) - 1))
        ordered, odds = ordered[kept], odds[kept]
    return np.stack([ordered, odds])
