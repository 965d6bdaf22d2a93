"""Rows of about the same score merged into one item, so that long lists cost little."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwise.boosting.rows import Floats, Rows

LONG = 1 << 14
"""Rows of one list from which on they are merged; below, every row is its own."""

CELLS = 1 << 13
"""Cells that the range of the scores is cut into."""


@dataclass(frozen=True)
class Merged:
    """Items that represent groups of rows, and the item of every row."""

    scores: Floats
    rows: Rows
    item: NDArray[np.int64] | None  # None: every row is its own item

    def spread_out(self, values: Floats, weight: Floats | None) -> Floats:
        """Return the values of items, each divided among its rows by weight."""
        if self.item is None:
            return values
        mass = self.rows.weight
        assert mass is not None
        share = np.divide(values, mass, out=np.zeros_like(values), where=mass > 0)[self.item]
        return share if weight is None else share * weight


def merge(scores: Floats, rows: Rows, *, graded: bool = False) -> Merged:
    """Merge rows of one class in one cell of scores into one item with their mean score.

    An objective counts an item of weight 2 as two, so rows of equal scores may be merged exactly.
    Those of a cell differ by a ten-thousandth of the range, their mean makes the error one of
    second order, and their order inside a cell, which is lost, is what the smoothing hides anyway.
    Short lists, several lists and ``graded`` targets stay as they are.
    """
    if len(scores) <= LONG or rows.groups is not None or graded:
        return Merged(scores, rows, None)
    low, high = float(scores.min()), float(scores.max())
    cell = ((scores - low) * ((CELLS - 1) / max(high - low, 1e-300))).astype(np.int64)
    cell += CELLS * rows.positive
    mass = np.bincount(cell, rows.weight, minlength=2 * CELLS)
    weighted = scores if rows.weight is None else scores * rows.weight
    total = np.bincount(cell, weighted, minlength=2 * CELLS)
    present = mass > 0
    number = np.cumsum(present) - 1
    items = Rows(
        (np.flatnonzero(present) >= CELLS).astype(np.float64), mass[present].astype(np.float64)
    )
    return Merged(total[present] / mass[present], items, number[cell])
