"""What a booster's data set says of its rows: targets, weights and lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Rows", "rows_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Targets of the rows, their weights and the number of the list each belongs to."""

    target: Floats
    weight: Floats | None = None  # None: every row counts once
    groups: NDArray[np.int64] | None = None  # None: all rows are one list

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which rows are relevant."""
        return self.target > 0

    @property
    def mass(self) -> float:
        """How many rows there are, by weight."""
        return float(len(self.target) if self.weight is None else self.weight.sum())

    @property
    def mass_of_positives(self) -> float:
        """How many rows are relevant, by weight."""
        positive = self.positive
        return float(positive.sum() if self.weight is None else self.weight[positive].sum())


def rows_of(data: Any) -> Rows:
    """The rows of a ``lightgbm.Dataset`` or an ``xgboost.DMatrix``.

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


def _list_sizes(data: Any) -> NDArray[np.int64] | None:
    if hasattr(data, "get_uint_info"):
        ends = np.asarray(data.get_uint_info("group_ptr"), dtype=np.int64)
        return np.diff(ends) if len(ends) > 1 else None
    sizes = data.get_group()
    return None if sizes is None else np.asarray(sizes, dtype=np.int64)
