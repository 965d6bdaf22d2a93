"""What an estimator is trained on: rows with their targets, some of them held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rankwise.estimators.checkpoint import Checkpoint

__all__ = ["Floats", "Part", "Training"]

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Part:
    """Some rows: features as read, 0/1 targets (or relevances), weights and list numbers."""

    X: Any  # (rows, columns) float array, or a scipy CSR array
    target: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None  # None: every row counts once
    groups: NDArray[np.int64] | None = None  # 0, 1, …: which list a row belongs to; None: one list

    def __len__(self) -> int:
        return len(self.target)

    def rows(self, chosen: NDArray[Any]) -> Part:
        """Some of the rows, by number or by a boolean for each; their lists count from 0 again."""
        groups = None if self.groups is None else self.groups[chosen]
        return Part(
            self.X[chosen],
            self.target[chosen],
            None if self.weight is None else self.weight[chosen],
            None if groups is None else np.unique(groups, return_inverse=True)[1].astype(np.int64),
        )

    def by_list(self) -> Part:
        """The rows sorted by list, in their own order inside one: what boosters want."""
        if self.groups is None:
            return self
        return self.rows(np.argsort(self.groups, kind="stable"))

    @property
    def list_sizes(self) -> NDArray[np.int64]:
        """Rows of each list, in ascending order of the list numbers."""
        if self.groups is None:
            return np.array([len(self)])
        return np.unique(self.groups, return_counts=True)[1].astype(np.int64)


@dataclass(frozen=True)
class Training:
    """The rows to learn from and those held out, with what is known of all of them together.

    The rows held out choose when to stop, the calibration and the threshold. Where a class has too
    few rows to be split, ``held_out`` is ``train`` itself.
    """

    train: Part
    held_out: Part
    prior: float  # weighted share of positives among all rows
    seed: int  # for whatever is random in the training
    metric: Callable[[Floats, Part], float]
    checkpoint: Checkpoint | None = None  # where the training leaves what it has reached

    @property
    def splits(self) -> bool:
        """Whether the rows held out are others than those learned from."""
        return self.held_out is not self.train

    def judge(self, scores: Floats) -> float:
        """The metric of scores of the rows held out; larger is better."""
        return self.metric(scores, self.held_out)
