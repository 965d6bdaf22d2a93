"""Two loops that numpy has no fast form of, compiled where numba is installed (extra ``fast``).

Both have a form in numpy with the same results. Compilation takes seconds, so short lists use that
form too.
"""

from __future__ import annotations

import numpy as np

from rankwise._jit import is_available
from rankwise.metrics.inputs import NumpyArray

LONG = 10_000_000  # items from which compilation pays


def split_classes(
    scores: NumpyArray, target: NumpyArray, n_positives: int
) -> tuple[NumpyArray, NumpyArray]:
    """Return the scores of target 1 and of target 0; other targets belong to the latter."""
    if len(scores) < LONG or not is_available():
        positive = target == 1
        return scores[positive], scores[~positive]
    positives = np.empty(n_positives + 1, scores.dtype)  # one more: every score is written to both
    negatives = np.empty(len(scores) - n_positives + 1, scores.dtype)
    from rankwise.metrics._loops import split  # noqa: PLC0415  (needs numba)

    split(scores, target, positives, negatives)
    return positives[:-1], negatives[:-1]


def search_sorted(values: NumpyArray, others: NumpyArray, length: int) -> NumpyArray:
    """Return how many sorted others are below each of the sorted values.

    ``length`` is that of the whole list, of which these are a part.
    """
    if length < LONG or not is_available():
        return others.searchsorted(values)
    below = np.empty(len(values), np.int64)
    from rankwise.metrics._loops import search  # noqa: PLC0415  (needs numba)

    search(values, others, below)
    return below
