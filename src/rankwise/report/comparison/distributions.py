"""Distributions of scores, reliability of probabilities, and the metric of every list."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankwise.naming import metric
from rankwise.report.comparison.curves import Floats, effective_size
from rankwise.report.comparison.run import Predictions

BARS = 40
BINS = 10
_OUTER = 0.001  # maximum share of each class beyond the outermost bars
_Z = 1.959964  # of a two-sided 95 % interval


def histogram_of(scores: Floats, target: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the edges of bars, and the shares of the positives and of the negatives in each.

    What lies beyond the edges is in the outer bars.
    """
    classes = [target == 1, target != 1]
    finite = [scores[at & np.isfinite(scores)] for at in classes]
    outer = [np.quantile(each, [_OUTER, 1 - _OUTER]) if len(each) else (0, 0) for each in finite]
    low, high = float(np.min(outer)), float(np.max(outer))
    if not low < high:
        low, high = low - 0.5, low + 0.5
    edges = np.linspace(low, high, BARS + 1)
    inside = np.clip(scores, low, high)
    positives, negatives = (
        np.histogram(inside[at], edges, weights=weight[at])[0] / weight[at].sum() for at in classes
    )
    return edges, positives, negatives


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
    found = np.quantile(scores, shares, weights=weight, method="inverted_cdf")
    return [float(each) for each in found]


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
    # A level is in the bin of its middle, so that ties stay together.
    middle = expected - np.diff(expected, prepend=0.0) / 2
    number = np.minimum(BINS * middle / (expected[-1] or 1.0), BINS - 1).astype(int)[place]
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


def values_by_group(name: str, predictions: Predictions, candidate: int) -> Floats:
    """Return one value per group, NaN where the metric has none."""
    weight = None if (predictions.weight == 1).all() else predictions.weight
    scores, target, group = predictions.scores[candidate], predictions.target, predictions.group
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # lists of one class: their count is shown
        return replace(metric(name).setting, average="none")(scores, target, None, group, weight)


def meet(values: Floats, others: Floats) -> tuple[int, int, int]:
    """Return the numbers of lists in which the first candidate is better, equal and worse."""
    difference = values - others  # NaN, where one has no value, is neither
    better, worse = int((difference >= 1e-12).sum()), int((difference <= -1e-12).sum())
    return better, int((np.abs(difference) < 1e-12).sum()), worse
