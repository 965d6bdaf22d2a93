"""Thresholds worth standing at, with what is flagged at each."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context

import numpy as np
from numpy.typing import NDArray

from rankwise.report.comparison.measured.levels import Floats, Levels

__all__ = ["Thresholds", "thresholds_of"]

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

    def cheapest(self, false_positive: float, false_negative: float) -> int:
        """The row with the least cost, the highest threshold among equals."""
        missed = self.positives - self.true_positives
        cost = false_positive * self.false_positives + false_negative * missed
        return len(cost) - 1 - int(np.argmin(cost[::-1]))


def thresholds_of(levels: Levels) -> Thresholds:
    """A few hundred of the levels, among them the best F1 and the cheapest for any two costs.

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
    """The number of the fewest digits that is at most a level and above the one below it."""
    for digits in _DIGITS:
        short = float(Context(digits, ROUND_FLOOR).create_decimal(repr(level)))
        if short > below:
            return short
    return level


def _corners(levels: Levels) -> NDArray[np.intp]:
    """Levels at the corners of the upper convex hull of the ROC curve, which starts at (0, 0)."""
    hull: list[tuple[float, float, int]] = [(0.0, 0.0, -1)]
    rises = np.flatnonzero(np.diff(levels.positives, prepend=0.0) > 0)
    for place in rises.tolist():
        x, y = float(levels.negatives[place]), float(levels.positives[place])
        while len(hull) > 1 and _turns_up(hull[-2], hull[-1], x, y):
            hull.pop()
        hull.append((x, y, place))
    return np.array([place for _, _, place in hull[1:]], dtype=np.intp)


def _turns_up(a: tuple[float, float, int], b: tuple[float, float, int], x: float, y: float) -> bool:
    return (b[0] - a[0]) * (y - a[1]) >= (b[1] - a[1]) * (x - a[0])
