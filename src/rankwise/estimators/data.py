"""Rows an estimator learns from, with their targets, and the rows held out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from rankwise.boosting.disk import DiskMatrix
from rankwise.boosting.rows import relevant

if TYPE_CHECKING:
    from rankwise.estimators._files import Checkpoint

Floats: TypeAlias = NDArray[np.floating]
Vector: TypeAlias = NDArray[np.float64]
# (rows, columns), as the model takes it; a DiskMatrix where they come from a file
Matrix: TypeAlias = NDArray[np.floating] | csr_array
TableLike: TypeAlias = ArrayLike | csr_array  # what a caller may pass as X; frames are array-like
State: TypeAlias = dict[str, NDArray[np.generic] | str]  # a fitted model as arrays and text
Loaded: TypeAlias = Mapping[str, Any]  # what a file holds, by name


ROW_GROUP = 1 << 16
"""Rows that are drawn together where an epoch learns from some of them: they are read at once."""


def dense(rows: Matrix) -> Floats:
    """Return rows as an array."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


@dataclass(frozen=True)
class Part:
    """Some rows: features, 0/1 targets (or relevances, or class numbers), weights and lists."""

    X: Matrix
    target: Vector
    weight: Vector | None = None  # None: every row counts once
    groups: NDArray[np.int64] | None = None  # 0, 1, …: which list a row belongs to; None: one list
    classes: int = 2  # more: the target holds the class numbers 0, 1, …

    def __len__(self) -> int:
        return len(self.target)

    def rows(self, chosen: NDArray[np.integer] | NDArray[np.bool_]) -> Part:
        """Return some of the rows, by number or by a boolean mask; lists are renumbered from 0."""
        groups = None if self.groups is None else self.groups[chosen]
        return Part(
            self.X.select(chosen) if isinstance(self.X, DiskMatrix) else self.X[chosen],
            self.target[chosen],
            None if self.weight is None else self.weight[chosen],
            None if groups is None else np.unique(groups, return_inverse=True)[1].astype(np.int64),
            self.classes,
        )

    @property
    def members(self) -> list[NDArray[np.int64]]:
        """The rows of every class: positives and negatives, or the classes in order."""
        if self.classes == 2:
            return [np.flatnonzero((self.target > 0) == positive) for positive in (True, False)]
        return [np.flatnonzero(self.target == number) for number in range(self.classes)]

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Whether a row counts as positive where there are two classes."""
        return relevant(self.target)

    def weighted_rows(self) -> Part:
        """Return the rows with a weight above 0."""
        if self.weight is None or self.weight.all():
            return self
        return self.rows(self.weight > 0)

    @property
    def list_sizes(self) -> NDArray[np.int64]:
        """Rows of each list, in ascending order of the list numbers."""
        if self.groups is None:
            return np.array([len(self)])
        return np.unique(self.groups, return_counts=True)[1].astype(np.int64)


@dataclass(frozen=True)
class Training:
    """The rows to learn from and the rows held out.

    The rows held out choose when to stop, the calibration and the threshold. Where a class has too
    few rows to be split, ``held_out`` is ``train`` itself.
    """

    train: Part
    held_out: Part
    prior: float  # weighted share of positives among all rows
    seed: int  # for whatever is random in the training
    metric: Callable[[Floats, Part], float]
    checkpoint: Checkpoint | None = None  # where the training saves its progress
    epoch_fraction: float = 1.0  # share of the row groups that an epoch learns from
    shares: Vector | None = None  # weighted share of each class, where there are more than two

    def epoch_rows(self, epoch: int) -> NDArray[np.int64] | None:
        """Return the training rows of an epoch, ascending; None for all of them.

        They are whole row groups, drawn anew for every epoch. There are more than asked for where
        these lack a class.
        """
        count = -(-len(self.train) // ROW_GROUP)
        wanted = max(1, round(self.epoch_fraction * count))
        if wanted >= count:
            return None
        order = np.random.default_rng([self.seed, epoch]).permutation(count)
        positive = np.logical_or.reduceat(self.train.positive, np.arange(count) * ROW_GROUP)
        negative = np.logical_or.reduceat(~self.train.positive, np.arange(count) * ROW_GROUP)
        for kind in (positive, negative):
            wanted = max(wanted, 1 + int(np.argmax(kind[order])))
        starts = np.sort(order[:wanted]) * ROW_GROUP
        rows = (starts[:, None] + np.arange(ROW_GROUP)).ravel()
        return rows[rows < len(self.train)]

    @property
    def splits(self) -> bool:
        """Whether the rows held out differ from those learned from."""
        return self.held_out is not self.train

    def evaluate(self, scores: Floats) -> float:
        """Compute the metric of scores of the rows held out; larger is better."""
        return self.metric(scores, self.held_out)
