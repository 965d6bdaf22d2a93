"""The rows of a data set as boosters and objectives see them: targets, weights and lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Matrix: TypeAlias = Any  # a numpy array or a scipy CSR array, which share no type


@dataclass(frozen=True)
class Rows:
    """Targets of rows, their weights and the number of the list each belongs to; features."""

    target: Floats
    weight: Floats | None = None  # None: every row counts once
    groups: NDArray[np.int64] | None = None  # None: all rows are one list
    X: Matrix = None  # where trees are grown on the rows
    round: int = 0  # number of trees so far, by which noise is drawn

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Whether a row is relevant."""
        return relevant(self.target)

    @property
    def share(self) -> Floats | NDArray[np.bool_]:
        """The probability of being relevant that log-loss fits: y/max y of graded relevances."""
        highest = self.target.max(initial=0.0)
        graded = bool(((self.target != 0) & (self.target != 1)).any())
        return self.target / highest if graded else self.positive


class BoosterData(Protocol):
    """The data set of a booster: a ``lightgbm.Dataset`` or an ``xgboost.DMatrix``."""

    def get_label(self) -> ArrayLike:
        """Return the targets."""

    def get_weight(self) -> Floats | None:
        """Return the weights of the rows, or of the lists; LightGBM has None for no weights."""


def relevant(target: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Return which rows count as positive: those above 0.

    Where none is 0, as in relevances that are estimates, those above the mean.
    """
    above: NDArray[np.bool_] = target > 0
    return target > target.mean() if len(target) and above.all() and np.ptp(target) > 0 else above


def require_data_set(data: object) -> None:
    """Raise where a wrapper for scikit-learn has called, which passes arrays and no lists."""
    if not hasattr(data, "get_label"):
        raise ValueError(
            "objectives and metrics of boosters are for lightgbm.train and xgboost.train, which "
            f"call them with a data set, got {type(data).__name__}; in place of LGBMClassifier or "
            "XGBClassifier use rankwise.estimators.BoostedRanker"
        )


def rows_of(data: BoosterData) -> Rows:
    """Return the rows of a ``lightgbm.Dataset`` or an ``xgboost.DMatrix``.

    XGBoost keeps one weight per list where there are lists: it becomes that of all its rows.
    """
    require_data_set(data)
    target = np.asarray(data.get_label(), dtype=np.float64)
    sizes = None
    if uint_info := getattr(data, "get_uint_info", None):  # XGBoost
        ends = np.asarray(uint_info("group_ptr"), dtype=np.int64)
        sizes = np.diff(ends) if len(ends) > 1 else None
    elif (given := getattr(data, "get_group")()) is not None:  # noqa: B009  (LightGBM)
        sizes = np.asarray(given, dtype=np.int64)
    own = data.get_weight()
    weight = np.asarray(own, dtype=np.float64) if own is not None and len(own) else None
    groups = None
    if sizes is not None:
        if sizes.sum() != len(target):
            raise ValueError(
                f"the lists of the data set must have {len(target)} rows together, one per label, "
                f"got {sizes.sum()}"
            )
        groups = np.repeat(np.arange(len(sizes)), sizes)
        if weight is not None and len(weight) == len(sizes) != len(target):
            weight = np.repeat(weight, sizes)
    return Rows(target, weight, groups)
