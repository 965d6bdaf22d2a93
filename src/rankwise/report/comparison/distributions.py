"""Distributions of scores, reliability of probabilities, and the metric of every list."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankwise.naming import metric
from rankwise.report.comparison.curves import Floats, effective_size
from rankwise.report.comparison.run import Predictions

BARS = 40
BINS = 10
_OUTER = 0.001  # maximum share of each class beyond the outermost bars
_Z = 1.959964  # of a two-sided 95 % interval


@dataclass(frozen=True)
class ClassHistogram:
    """Shares of each class between edges; what lies beyond the edges is in the outer bars."""

    edges: Floats
    positives: Floats
    negatives: Floats


def histogram_of(scores: Floats, target: Floats, weight: Floats) -> ClassHistogram:
    """Return the histogram of each class over the same bars."""
    classes = [target == 1, target != 1]
    finite = [scores[at & np.isfinite(scores)] for at in classes]
    outer = [np.quantile(each, [_OUTER, 1 - _OUTER]) if len(each) else (0, 0) for each in finite]
    low, high = float(np.min(outer)), float(np.max(outer))
    if not low < high:
        low, high = low - 0.5, low + 0.5
    edges = np.linspace(low, high, BARS + 1)
    inside = np.clip(scores, low, high)
    shares = []
    for at in classes:
        bars, _ = np.histogram(inside[at], edges, weights=weight[at])
        shares.append(bars / weight[at].sum())
    return ClassHistogram(edges, *shares)


def unit_range(scores: Floats) -> Floats:
    """Scale scores to 0–1, keeping their order; infinite ones stand at the ends."""
    finite = scores[np.isfinite(scores)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    if not low < high:
        return np.where(scores > high, 1.0, np.where(scores < low, 0.0, 0.5))
    moved: Floats = np.clip((scores / 2 - low / 2) / (high / 2 - low / 2), 0.0, 1.0)
    return moved


def score_quantiles(scores: Floats, weight: Floats, shares: Sequence[float]) -> list[float]:
    """Return the lowest scores that shares of the weight are at or below."""
    order = np.argsort(scores)
    order = order[weight[order] > 0]
    below = np.cumsum(weight[order])
    wanted = np.asarray(shares) * below[-1] * (1 - 1e-12)  # .05 · 140 is a little more than 7
    return [float(each) for each in scores[order[np.searchsorted(below, wanted)]]]


@dataclass(frozen=True)
class Bin:
    """Rows with similar probabilities: the mean prediction and the share of positives."""

    predicted: float
    observed: float
    low: float
    high: float
    rows: float
    positives: float


def brier_score(probability: Floats, target: Floats, weight: Floats) -> float:
    """Return the mean squared difference of probability and target (Brier 1950)."""
    return float(np.average((probability - target) ** 2, weights=weight))


def reliability(probability: Floats, target: Floats, weight: Floats) -> list[Bin]:
    """Return bins of about equal numbers of expected positives, with Wilson intervals.

    Of a rare class nearly all rows have a probability near zero. Bins of equally many rows would
    all lie there; bins of equal expectation reach to the highest probabilities.
    """
    levels, place = np.unique(probability, return_inverse=True)
    expected = np.cumsum(np.bincount(place, weight * probability, len(levels)))
    if expected[-1] > 0:
        # A level is in the bin of its middle, so that ties stay together.
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
    """Return the interval of a share (Wilson 1927)."""
    scale = 1 + _Z**2 / size
    center = (share + _Z**2 / (2 * size)) / scale
    reach = _Z / scale * math.sqrt(share * (1 - share) / size + _Z**2 / (4 * size**2))
    return max(0.0, center - reach), min(1.0, center + reach)


class Meeting(NamedTuple):
    """Numbers of lists in which one candidate is better than another."""

    better: int
    equal: int
    worse: int


def values_by_group(name: str, predictions: Predictions, candidate: int) -> Floats:
    """Return one value per group, NaN where the metric has none."""
    named = metric(name)
    weight = predictions.weight
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # lists of one class: their count is shown
        values: Floats = named.metric(
            predictions.scores[candidate],
            predictions.target,
            groups=predictions.group,
            weight=None if (weight == 1).all() else weight,
            **{**named.options, "average": "none"},
        )
    return values


def meet(values: Floats, others: Floats) -> Meeting:
    """Compare two candidates list by list, where both have a value."""
    difference = values - others  # NaN, where one has none, is neither
    counts = (difference >= 1e-12, np.abs(difference) < 1e-12, difference <= -1e-12)
    return Meeting(*(int(each.sum()) for each in counts))
