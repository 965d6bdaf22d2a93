"""Ranks in a gallery: counts of scores above a threshold, and the positives of a query."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

LANES = 8 * 255
"""Columns come in multiples of this: eight flags to a word, 255 words before a byte is full."""

_FEW = 256  # thresholds up to which one comparison each is cheaper than to sort the row
_ROWS = 32  # rows in one comparison: enough for a thread, few enough to stay in the cache

Scores = NDArray[np.float32]


def at_least(
    scores: Scores, thresholds: Scores, pool: ThreadPoolExecutor | None = None
) -> NDArray[np.int64]:
    """Count #{j : scores[i, j] ≥ thresholds[i, t]} for every row i and threshold t, (rows, t).

    ``scores`` is contiguous, its width a multiple of :data:`LANES`, padded with −∞. Rows are split
    among the threads of ``pool``.
    """
    count = _compared if thresholds.shape[1] <= _FEW else _searched
    parts = [slice(start, start + _ROWS) for start in range(0, len(scores), _ROWS)]
    work = (map if pool is None else pool.map)(
        lambda rows: count(scores[rows], thresholds[rows]), parts
    )
    return np.concatenate([np.empty((0, thresholds.shape[1]), np.int64), *work])


def _compared(scores: Scores, thresholds: Scores) -> NDArray[np.int64]:
    """Compare with each threshold; the flags, a byte each, are added eight at a time as words."""
    flags = np.empty(scores.shape, dtype=bool)
    found = np.empty(thresholds.shape, dtype=np.int64)
    for t in range(thresholds.shape[1]):
        np.greater_equal(scores, thresholds[:, t : t + 1], out=flags)
        words = flags.view(np.int64).reshape(len(scores), -1, 255).sum(-1)
        found[:, t] = words.view(np.uint8).reshape(len(scores), -1).sum(-1, dtype=np.int64)
    return found


def _searched(scores: Scores, thresholds: Scores) -> NDArray[np.int64]:
    """Sort the row and search the thresholds in it: cheaper for many thresholds."""
    found = np.empty(thresholds.shape, dtype=np.int64)
    for row, ordered in enumerate(np.sort(scores, axis=1)):
        found[row] = len(ordered) - np.searchsorted(ordered, thresholds[row], side="left")
    return found


Ints = NDArray[np.int64]


class Positives:
    """The items of every class of a gallery, found in one sort of the labels."""

    def __init__(self, labels: Ints, query_labels: Ints, own: Ints | None) -> None:
        """``own`` is the place of each query in the gallery, None for queries from elsewhere."""
        self.items = np.argsort(labels, kind="stable")
        ordered = labels[self.items]
        self.start = np.searchsorted(ordered, query_labels, side="left")
        self.size = np.searchsorted(ordered, query_labels, side="right") - self.start
        self.own = own
        self.count = self.size - (own is not None)  # positives of each query

    def of(self, queries: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the positives of some queries, (queries, most), and a mask of the valid cells."""
        most = int(self.size[queries].max(initial=0))
        cell = np.arange(most)
        there = cell < self.size[queries, None]
        place = np.where(there, self.start[queries, None] + cell, self.start[queries, None])
        items = self.items[np.minimum(place, len(self.items) - 1)]
        if self.own is not None:
            there &= items != self.own[queries, None]
        return items, there
