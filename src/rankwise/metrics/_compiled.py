"""Two loops that numpy has no fast form of, compiled where numba is installed (extra ``fast``).

Both have a form in numpy with the same results. Compilation takes seconds, so short lists use that
form too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from rankwise.extras import missing
from rankwise.metrics.inputs import NumpyArray

LONG = 10_000_000  # items from which compilation pays

Split = Callable[[NumpyArray, NumpyArray, NumpyArray, NumpyArray], int]
Search = Callable[[NumpyArray, NumpyArray, NumpyArray], None]


def split_classes(
    scores: NumpyArray, target: NumpyArray, n_positives: int
) -> tuple[NumpyArray, NumpyArray]:
    """Return the scores of target 1 and of target 0; other targets belong to the latter."""
    if len(scores) < LONG or missing(["numba"]):
        positive = target == 1
        return scores[positive], scores[~positive]
    positives = np.empty(n_positives + 1, scores.dtype)  # one more: every score is written to both
    negatives = np.empty(len(scores) - n_positives + 1, scores.dtype)
    _loops()[0](scores, target, positives, negatives)
    return positives[:-1], negatives[:-1]


def search_sorted(values: NumpyArray, others: NumpyArray, length: int) -> NumpyArray:
    """Return how many sorted others are below each of the sorted values.

    ``length`` is that of the whole list, of which these are a part.
    """
    if length < LONG or missing(["numba"]):
        return others.searchsorted(values)
    below = np.empty(len(values), np.int64)
    _loops()[1](values, others, below)
    return below


@cache
def _loops() -> tuple[Split, Search]:
    from numba import njit  # noqa: PLC0415  (an extra, and slow to import)

    @njit(nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
    def split(
        scores: NumpyArray, target: NumpyArray, positives: NumpyArray, negatives: NumpyArray
    ) -> int:
        # Without a branch: the class of the next item cannot be predicted.
        p = n = 0
        for i in range(len(scores)):
            positive = target[i] == 1
            positives[p] = scores[i]
            negatives[n] = scores[i]
            p += positive
            n += not positive
        return p

    @njit(nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
    def search(values: NumpyArray, others: NumpyArray, below: NumpyArray) -> None:
        i = j = 0
        while i < len(values) and j < len(others):
            below[i] = j
            behind = others[j] < values[i]
            j += behind
            i += not behind
        below[i:] = j

    return split, search
