"""The loops of :mod:`rankwise.metrics._compiled`; importing them needs numba."""

from __future__ import annotations

from rankwise._jit import kernel
from rankwise.metrics.inputs import NumpyArray


@kernel
def split(
    scores: NumpyArray, target: NumpyArray, positives: NumpyArray, negatives: NumpyArray
) -> None:
    """Copy the scores of target 1 and the others; every score is written to both sides."""
    # Without a branch: the class of the next item cannot be predicted.
    p = n = 0
    for i in range(len(scores)):
        positive = target[i] == 1
        positives[p] = scores[i]
        negatives[n] = scores[i]
        p += positive
        n += not positive


@kernel
def search(values: NumpyArray, others: NumpyArray, below: NumpyArray) -> None:
    """Count the others below each value; both are sorted."""
    i = j = 0
    while i < len(values) and j < len(others):
        below[i] = j
        behind = others[j] < values[i]
        j += behind
        i += not behind
    below[i:] = j
