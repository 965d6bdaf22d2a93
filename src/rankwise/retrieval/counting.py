"""How many scores of a row are at least a threshold, which is what a rank is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

__all__ = ["LANES", "at_least"]

LANES = 8 * 255
"""Columns come in multiples of this: eight flags to a word, 255 words before a byte is full."""

_FEW = 256  # thresholds up to which one comparison each is cheaper than to sort the row
_ROWS = 32  # rows compared at once: enough for a thread, few enough to stay in the cache

Scores = NDArray[np.float32]


def at_least(
    scores: Scores, thresholds: Scores, pool: ThreadPoolExecutor | None = None
) -> NDArray[np.int64]:
    """#{j : scores[i, j] ≥ thresholds[i, t]} for every row i and its thresholds, (rows, t).

    ``scores`` is contiguous and as wide as a multiple of :data:`LANES`; what is not there is −∞.
    Rows are shared out over the threads of ``pool``.
    """
    count = _compared if thresholds.shape[1] <= _FEW else _searched
    parts = [slice(start, start + _ROWS) for start in range(0, len(scores), _ROWS)]
    work = (map if pool is None else pool.map)(
        lambda rows: count(scores[rows], thresholds[rows]), parts
    )
    return np.concatenate([np.empty((0, thresholds.shape[1]), np.int64), *work])


def _compared(scores: Scores, thresholds: Scores) -> NDArray[np.int64]:
    """One comparison a threshold; the flags, a byte each, are added eight at a time as words."""
    flags = np.empty(scores.shape, dtype=bool)
    found = np.empty(thresholds.shape, dtype=np.int64)
    for t in range(thresholds.shape[1]):
        np.greater_equal(scores, thresholds[:, t : t + 1], out=flags)
        words = flags.view(np.int64).reshape(len(scores), -1, 255).sum(-1)
        found[:, t] = words.view(np.uint8).reshape(len(scores), -1).sum(-1, dtype=np.int64)
    return found


def _searched(scores: Scores, thresholds: Scores) -> NDArray[np.int64]:
    """The row in order, and the thresholds' places in it: by then the cheaper of the two."""
    found = np.empty(thresholds.shape, dtype=np.int64)
    for row, ordered in enumerate(np.sort(scores, axis=1)):
        found[row] = len(ordered) - np.searchsorted(ordered, thresholds[row], side="left")
    return found
