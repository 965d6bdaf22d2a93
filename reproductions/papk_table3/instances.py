"""Rows of (user, item, product) features with 0/1 labels, and how users' rows are split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwise.estimators.data import Part

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Instances:
    """The rows to learn from and to evaluate on; users are 0, 1, …"""

    name: str  # as in the paper's table
    X: Array
    y: NDArray[np.bool_]
    users: NDArray[np.int64]
    story: str  # how the rows were made, in a sentence or two
    parts: NDArray[np.int64] | None = None  # 0, 1, 2 as published; None: to be drawn

    def part(self, rows: NDArray[np.bool_]) -> Part:
        """Some of the rows, their users numbered from 0 again."""
        groups = np.unique(self.users[rows], return_inverse=True)[1].astype(np.int64)
        return Part(self.X[rows], self.y[rows].astype(np.float64), None, groups)

    def split(self, seed: int) -> NDArray[np.int64]:
        """0 for training, 1 for validation, 2 for test: as published, or else drawn."""
        return split_rows(self.users, seed) if self.parts is None else self.parts

    @property
    def size(self) -> str:
        """Rows, positives, users and columns, in words."""
        users = len(np.unique(self.users))
        return (
            f"{len(self.y):,} instances, {int(self.y.sum()):,} positive, {users:,} users, "
            f"{self.X.shape[1]} features"
        )


def crossed(user: Array, item: Array) -> Array:
    """[u, v, u∘v], the schema of the paper."""
    return np.concatenate([user, item, user * item], axis=1)


def split_rows(
    users: NDArray[np.int64], seed: int, shares: tuple[float, float] = (0.6, 0.2)
) -> NDArray[np.int64]:
    """0 for training, 1 for validation, 2 for test: shares of every user's rows, at random."""
    order = np.lexsort((np.random.default_rng(seed).random(len(users)), users))
    ranked = users[order]
    start = np.searchsorted(ranked, ranked)
    size = np.searchsorted(ranked, ranked, side="right") - start
    place = np.empty(len(users))
    place[order] = (np.arange(len(users)) - start + 0.5) / size
    return np.digitize(place, np.cumsum(shares)).astype(np.int64)
