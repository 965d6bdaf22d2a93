"""The rows of a booster's data set: targets, weights and lists; rows of about one score merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Targets of the rows, their weights and the number of the list each belongs to."""

    target: Floats
    weight: Floats | None = None  # None: every row counts once
    groups: NDArray[np.int64] | None = None  # None: all rows are one list

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Whether a row is relevant."""
        return self.target > 0


class BoosterData(Protocol):
    """The data set of a booster: a ``lightgbm.Dataset`` or an ``xgboost.DMatrix``."""

    def get_label(self) -> ArrayLike:
        """Return the targets."""

    def get_weight(self) -> Floats | None:
        """Return the weights of the rows, or of the lists; LightGBM has None for no weights."""


def rows_of(data: BoosterData) -> Rows:
    """Return the rows of a ``lightgbm.Dataset`` or an ``xgboost.DMatrix``.

    XGBoost keeps one weight per list where there are lists: it becomes that of all its rows.
    """
    target = np.asarray(data.get_label(), dtype=np.float64)
    sizes = _list_sizes(data)
    weight = data.get_weight()
    if weight is not None and len(weight) == 0:
        weight = None
    groups = None
    if sizes is not None:
        if sizes.sum() != len(target):
            raise ValueError(
                f"the lists of the data set must have {len(target)} rows together, one per label, "
                f"got {sizes.sum()}"
            )
        groups = np.repeat(np.arange(len(sizes)), sizes)
        if weight is not None and len(weight) == len(sizes) != len(target):
            weight = np.repeat(np.asarray(weight), sizes)
    return Rows(target, None if weight is None else np.asarray(weight, dtype=np.float64), groups)


def _list_sizes(data: BoosterData) -> NDArray[np.int64] | None:
    if uint_info := getattr(data, "get_uint_info", None):  # XGBoost
        ends = np.asarray(uint_info("group_ptr"), dtype=np.int64)
        return np.diff(ends) if len(ends) > 1 else None
    sizes = getattr(data, "get_group")()  # noqa: B009  (LightGBM; not of the protocol)
    return None if sizes is None else np.asarray(sizes, dtype=np.int64)


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
