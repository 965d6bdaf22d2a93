"""Rows that a caller holds out himself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from rankwise.estimators.data import Part
from rankwise.estimators.features import read_features
from rankwise.estimators.targets import read_groups, read_weight

if TYPE_CHECKING:
    from rankwise.estimators.base import Ranker

__all__ = ["Validation", "read_validation"]


@dataclass(frozen=True)
class Validation:
    """Rows to stop by, their targets not yet read: classes are those of all rows together."""

    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    groups: NDArray[np.int64] | None

    def part(self, target: NDArray[np.float64]) -> Part:
        """With the targets as numbers; rows of weight 0 are not there."""
        found = Part(self.X, target, self.weight, self.groups)
        if found.weight is not None and not found.weight.all():
            found = found.rows(found.weight > 0)
        if (found.target == found.target[0]).all():
            raise ValueError(
                "validation must hold rows of both classes, got only "
                f"{column_or_1d(self.y)[0]!r}: nothing can be ranked there"
            )
        return found


def read_validation(ranker: Ranker, given: Any, *, grouped: bool) -> Validation:
    """``(X, y)``, ``(X, y, groups)`` or ``(X, y, groups, weight)`` for a ranker that knows X."""
    if not isinstance(given, tuple) or not 2 <= len(given) <= 4:
        got = f"{len(given)} values" if isinstance(given, tuple) else type(given).__name__
        raise ValueError(f"validation must be (X, y[, groups[, sample_weight]]), got {got}")
    X, y, groups, weight = (*given, None, None)[:4]
    if (groups is not None) != grouped:
        raise ValueError(
            "validation must have groups where the rows to learn from have them, and only there; "
            f"got {'groups' if groups is not None else 'none'} in validation"
        )
    rows = read_features(ranker, X)
    target = column_or_1d(y)
    if len(target) != rows.shape[0]:
        raise ValueError(
            f"validation must have one y per row of X, got {len(target)} for {rows.shape[0]} rows"
        )
    return Validation(rows, target, read_weight(weight, rows), read_groups(groups, len(target)))
