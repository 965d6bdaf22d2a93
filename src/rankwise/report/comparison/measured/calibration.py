"""Whether probabilities mean what they say."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankwise.report.comparison.measured.levels import Floats, effective_size

__all__ = ["Bin", "brier_score", "reliability"]

BINS = 10
_Z = 1.959964  # of a two-sided 95 % interval


@dataclass(frozen=True)
class Bin:
    """Rows with similar probabilities: what was predicted of them, and what came."""

    predicted: float
    observed: float
    low: float
    high: float
    rows: float
    positives: float


def brier_score(probability: Floats, target: Floats, weight: Floats) -> float:
    """Mean squared difference of probability and truth (Brier 1950): lower is better."""
    return float(np.average((probability - target) ** 2, weights=weight))


def reliability(probability: Floats, target: Floats, weight: Floats) -> list[Bin]:
    """Bins that expect about equally many positives each, with Wilson intervals.

    Of a rare class nearly all rows have a probability near zero. Bins of equally many rows would
    all lie there; bins of equal expectation reach to the highest probabilities.
    """
    levels, place = np.unique(probability, return_inverse=True)
    expected = np.cumsum(np.bincount(place, weight * probability, len(levels)))
    if expected[-1] > 0:
        # A level is in the bin of its middle, so that ties are never parted.
        middle = expected - np.diff(expected, prepend=0.0) / 2
        number = np.minimum((BINS * middle / expected[-1]).astype(int), BINS - 1)[place]
    else:
        number = np.zeros(len(probability), dtype=int)
    return [
        _bin(probability[at], target[at], weight[at])
        for b in range(BINS)
        if (at := number == b).any()
    ]


def _bin(probability: Floats, target: Floats, weight: Floats) -> Bin:
    rows = float(weight.sum())
    if rows == 0:
        return Bin(float(probability.mean()), math.nan, math.nan, math.nan, 0.0, 0.0)
    observed = float(np.average(target, weights=weight))
    low, high = _wilson(observed, effective_size(weight))
    predicted = float(np.average(probability, weights=weight))
    return Bin(predicted, observed, low, high, rows, float(weight[target == 1].sum()))


def _wilson(share: float, size: int) -> tuple[float, float]:
    """The interval of a share (Wilson 1927)."""
    scale = 1 + _Z**2 / size
    center = (share + _Z**2 / (2 * size)) / scale
    reach = _Z / scale * math.sqrt(share * (1 - share) / size + _Z**2 / (4 * size**2))
    return max(0.0, center - reach), min(1.0, center + reach)
