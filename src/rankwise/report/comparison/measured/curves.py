"""Curves on a common grid, with bootstrap bands across them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankwise.report.comparison.measured.levels import Floats, Levels

__all__ = ["Curve", "lift_curves", "precision_recall_curves", "roc_curves"]

POINTS = 160
CUTS = 300  # levels that the resamples are cut at, for each class
DRAWS = 200


@dataclass(frozen=True)
class Curve:
    """Heights over a grid, with the band that 95 % of the resamples are in at each place."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats


# A curve of cumulated masses (positives, negatives by descending score) over a grid.
Shape = Callable[[Floats, Floats, Floats], Floats]


def precision_recall_curves(levels: Levels, seed: int = 0) -> Curve:
    """Precision over recall: at every recall the precision where it is first reached."""
    return _with_band(levels, np.linspace(0, 1, POINTS), _precision, seed)


def roc_curves(levels: Levels, seed: int = 0) -> Curve:
    """True positive rate over false positive rate, on a grid that is dense near zero."""
    return _with_band(levels, np.linspace(0, 1, POINTS) ** 2, _true_positive_rate, seed)


def lift_curves(levels: Levels, seed: int = 0) -> Curve:
    """How many times more positives among the first k than among any k, over k as a share."""
    first = 1 / max(levels.flagged[-1], 2.0)
    return _with_band(levels, np.geomspace(max(first, 1e-4), 1, POINTS), _lift, seed)


def _with_band(levels: Levels, grid: Floats, shape: Shape, seed: int) -> Curve:
    """Stratified bootstrap: the classes are drawn separately.

    Between two fixed cuts a resample of n rows has a multinomial number of them, so the rows
    themselves need not be drawn. Weighted rows are taken for as many equal ones as say the same.
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
    """Levels that are close together in both classes; the last is one of them."""
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


def _true_positive_rate(positives: Floats, negatives: Floats, grid: Floats) -> Floats:
    fpr = np.append(0.0, negatives) / negatives[-1]
    found: Floats = np.interp(grid, fpr, np.append(0.0, positives) / positives[-1])
    return found


def _lift(positives: Floats, negatives: Floats, grid: Floats) -> Floats:
    flagged = np.append(0.0, positives + negatives)
    found: Floats = np.interp(
        grid, flagged / flagged[-1], np.append(0.0, positives) / positives[-1]
    )
    return found / grid
