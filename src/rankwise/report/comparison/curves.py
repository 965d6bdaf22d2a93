"""Curves over thresholds and the top k with their bands, and the reliability of probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Levels:
    """Distinct scores from the highest down, with the mass of each class at or above them."""

    score: Floats
    positives: Floats
    negatives: Floats
    sizes: tuple[int, int]  # positives and negatives as draws: fewer than rows if weights differ

    @property
    def flagged(self) -> Floats:
        """Mass at or above, of both classes."""
        return self.positives + self.negatives

    @property
    def prior(self) -> float:
        """The share of positives."""
        return float(self.positives[-1] / self.flagged[-1])


def levels_of(scores: Floats, target: Floats, weight: Floats) -> Levels:
    """Return the levels of one list with both classes; rows of weight 0 are left out."""
    present = weight > 0
    scores, target, weight = scores[present], target[present], weight[present]
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    mass, is_positive = weight[order], target[order] == 1
    return Levels(
        ranked[last],
        np.cumsum(np.where(is_positive, mass, 0.0))[last],
        np.cumsum(np.where(is_positive, 0.0, mass))[last],
        (effective_size(weight[target == 1]), effective_size(weight[target != 1])),
    )


def effective_size(weight: Floats) -> int:
    """Return the effective sample size (Kish 1965, §11.7): (Σw)²/Σw², at least one."""
    squares = float((weight**2).sum())
    return max(1, round(float(weight.sum()) ** 2 / squares)) if squares > 0 else 1


POINTS = 160
CUTS = 300  # levels that the resamples are cut at, for each class
DRAWS = 200


class Curve(NamedTuple):
    """Heights over a grid, with the band that 95 % of the resamples are in at each place."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats


# A curve of cumulated masses (positives, negatives by descending score) over a grid.
Shape = Callable[[Floats, Floats, Floats], Floats]


def precision_recall_curves(levels: Levels, seed: int = 0) -> Curve:
    """Return precision over recall: at every recall the precision where it is first reached."""
    return _with_band(levels, np.linspace(0, 1, POINTS), _precision, seed)


def roc_curves(levels: Levels, seed: int = 0) -> Curve:
    """Return true positive rate over false positive rate, on a grid that is dense near zero."""
    grid = np.linspace(0, 1, POINTS) ** 2
    return _with_band(levels, grid, lambda p, n, grid: _recall(n, p, grid), seed)


def lift_curves(levels: Levels, seed: int = 0) -> Curve:
    """Return the lift, precision among the top k over the prior, against k as a share."""
    grid = np.geomspace(max(1 / max(levels.flagged[-1], 2.0), 1e-4), 1, POINTS)
    return _with_band(levels, grid, lambda p, n, grid: _recall(p + n, p, grid) / grid, seed)


def _with_band(levels: Levels, grid: Floats, shape: Shape, seed: int) -> Curve:
    """Return a curve with the band of a stratified bootstrap: the classes are drawn separately.

    Between two fixed cuts a resample of n rows has a multinomial number of them, so the rows
    themselves need not be drawn. Weighted rows count by their effective sample size.
    """
    rng, drawn, last = np.random.default_rng(seed), [], len(levels.score) - 1
    masses = (levels.positives, levels.negatives)
    # The cuts are close together in both classes.
    places = [np.searchsorted(mass, np.linspace(0, mass[-1], CUTS + 1)[1:]) for mass in masses]
    cuts = np.minimum(np.unique(np.append(places, last)), last)
    for mass, size in zip(masses, levels.sizes, strict=True):
        shares = np.diff(mass[cuts], prepend=0.0) / mass[-1]
        counts = rng.multinomial(size, shares / shares.sum(), size=DRAWS)
        drawn.append(np.cumsum(counts, axis=1) * (mass[-1] / size))
    heights = np.array([shape(p, n, grid) for p, n in zip(*drawn, strict=True)])
    low, high = np.quantile(heights, [0.025, 0.975], axis=0)
    return Curve(grid, shape(levels.positives, levels.negatives, grid), low, high)


def _precision(positives: Floats, negatives: Floats, grid: Floats) -> Floats:
    # Where only negatives came in, recall stands still: the curve is that of the positives.
    rises = np.diff(positives, prepend=0.0) > 0
    hit, missed = positives[rises], negatives[rises]
    return np.interp(grid, hit / hit[-1], hit / (hit + missed))


def _recall(flagged: Floats, positives: Floats, grid: Floats) -> Floats:
    """Return the share of the positives that is found when a share of a mass is flagged."""
    share = np.pad(flagged / flagged[-1], (1, 0))
    found: Floats = np.interp(grid, share, np.pad(positives / positives[-1], (1, 0)))
    return found


_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


class Found(NamedTuple):
    """The top k of a ranking; tied scores count by their mean over all orders."""

    positives: float
    precision: float
    recall: float
    lift: float


def places(levels: Levels) -> list[float]:
    """Return the k that a table shows: shares of the data, as integers, without repeats."""
    total = float(levels.flagged[-1])
    return sorted({float(k) for share in _SHARES if 1 <= (k := round(share * total)) < total})


def found_at(levels: Levels, k: float) -> Found:
    """Return what is found among the top k."""
    found = float(np.interp(k, np.pad(levels.flagged, (1, 0)), np.pad(levels.positives, (1, 0))))
    return Found(found, found / k, found / float(levels.positives[-1]), found / k / levels.prior)


BINS = 10
_Z = 1.959964  # of a two-sided 95 % interval


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
    bins = [number == n for n in range(BINS)]
    return [_bin(probability[at], target[at], weight[at]) for at in bins if at.any()]


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
