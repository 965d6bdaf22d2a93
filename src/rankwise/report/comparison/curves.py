"""Curves over thresholds and over the top k, with bootstrap bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
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
        both: Floats = self.positives + self.negatives
        return both

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
    rng = np.random.default_rng(seed)
    cuts = _cuts(levels)
    drawn = []
    for mass, size in zip((levels.positives, levels.negatives), levels.sizes, strict=True):
        shares = np.diff(mass[cuts], prepend=0.0) / mass[-1]
        counts = rng.multinomial(size, shares / shares.sum(), size=DRAWS)
        drawn.append(np.cumsum(counts, axis=1) * (mass[-1] / size))
    heights = np.array([shape(p, n, grid) for p, n in zip(*drawn, strict=True)])
    low, high = np.quantile(heights, [0.025, 0.975], axis=0)
    return Curve(grid, shape(levels.positives, levels.negatives, grid), low, high)


def _cuts(levels: Levels) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return levels that are close together in both classes, with the last one."""
    places = [
        np.searchsorted(mass, np.linspace(0, mass[-1], CUTS + 1)[1:])
        for mass in (levels.positives, levels.negatives)
    ]
    last = len(levels.score) - 1
    found: np.ndarray[tuple[int], np.dtype[np.intp]] = np.unique(np.append(places, last))
    return np.minimum(found, last)


def _precision(positives: Floats, negatives: Floats, grid: Floats) -> Floats:
    # Where only negatives came in, recall stands still: the curve is that of the positives.
    rises = np.diff(positives, prepend=0.0) > 0
    hit, missed = positives[rises], negatives[rises]
    found: Floats = np.interp(grid, hit / hit[-1], hit / (hit + missed))
    return found


def _recall(flagged: Floats, positives: Floats, grid: Floats) -> Floats:
    """Return the share of the positives that is found when a share of a mass is flagged."""
    share = np.append(0.0, flagged) / flagged[-1]
    found: Floats = np.interp(grid, share, np.append(0.0, positives) / positives[-1])
    return found


_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class Found:
    """The top k of a ranking; tied scores count by their mean over all orders."""

    k: float
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
    flagged, positives = np.append(0.0, levels.flagged), np.append(0.0, levels.positives)
    found = float(np.interp(k, flagged, positives))
    precision = found / k
    return Found(k, found, precision, found / float(positives[-1]), precision / levels.prior)


ROWS = 160  # before those that may be the best ones are added
_DIGITS = range(3, 17)  # of a threshold: as few of these as do


@dataclass(frozen=True)
class Thresholds:
    """Rows by ascending threshold; "flagged" is a value at or above it, the last row flags none."""

    threshold: Floats  # of few digits where they flag the same rows; infinite in the last row
    true_positives: Floats
    false_positives: Floats
    positives: float
    negatives: float
    best_f1: int  # its row

    @property
    def false_negatives(self) -> Floats:
        """Positives below each threshold."""
        missed: Floats = self.positives - self.true_positives
        return missed

    def cost(self, false_positive: float, false_negative: float) -> Floats:
        """Return the cost of every row."""
        total: Floats = false_positive * self.false_positives
        return total + false_negative * self.false_negatives

    def cheapest(self, false_positive: float, false_negative: float) -> int:
        """Return the row with the least cost, the highest threshold among equals."""
        cost = self.cost(false_positive, false_negative)
        return len(cost) - 1 - int(np.argmin(cost[::-1]))


def thresholds_of(levels: Levels) -> Thresholds:
    """Return a few hundred levels, among them the best F1 and the cheapest for any two costs.

    A cost is linear in the two rates, so its least value is at a corner of the convex hull of the
    ROC curve (Provost & Fawcett 2001): with all corners kept, the cheapest row is exact.
    """
    steps = np.geomspace(levels.flagged[0], levels.flagged[-1], ROWS)
    last = len(levels.score) - 1
    spaced = np.minimum(np.searchsorted(levels.flagged, steps), last)
    f1 = 2 * levels.positives / (levels.flagged + levels.positives[-1])
    best = int(np.argmax(f1))
    kept = np.unique(np.concatenate([spaced, _corners(levels), [best, last]]))[::-1]
    below = np.append(levels.score, -np.inf)[kept + 1]
    cuts = map(_cut, levels.score[kept].tolist(), below.tolist())
    return Thresholds(
        np.array([*cuts, np.inf]),
        np.append(levels.positives[kept], 0.0),
        np.append(levels.negatives[kept], 0.0),
        float(levels.positives[-1]),
        float(levels.negatives[-1]),
        int(np.flatnonzero(kept == best)[0]),
    )


def _cut(level: float, below: float) -> float:
    """Return the number with the fewest digits that is at most a level and above the next."""
    for digits in _DIGITS:
        short = float(Context(digits, ROUND_FLOOR).create_decimal(repr(level)))
        if short > below:
            return short
    return level


def _corners(levels: Levels) -> NDArray[np.intp]:
    """Return the levels at the corners of the upper convex hull of the ROC curve."""
    hull: list[tuple[float, float, int]] = [(0.0, 0.0, -1)]
    rises = np.flatnonzero(np.diff(levels.positives, prepend=0.0) > 0)
    for place in rises.tolist():
        x, y = float(levels.negatives[place]), float(levels.positives[place])
        while len(hull) > 1:
            (a, b, _), (c, d, _) = hull[-2:]
            if (c - a) * (y - b) < (d - b) * (x - a):
                break
            hull.pop()  # below the line from the corner before it
        hull.append((x, y, place))
    return np.array([place for _, _, place in hull[1:]], dtype=np.intp)
