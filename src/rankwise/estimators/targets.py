"""Targets, weights and lists of the rows, checked and as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, column_or_1d

__all__ = ["read_groups", "read_target", "read_weight"]


def read_target(
    y: Any, *, graded: bool, classes: NDArray[Any] | None = None, rows: int | None = None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The two classes, and 1 for the second and 0 for the first; relevances where ``graded``."""
    y = column_or_1d(y)
    if rows is not None and len(y) != rows:
        raise ValueError(f"y must have one value per row of X, got {len(y)} values for {rows} rows")
    if y.dtype == object and any(value is None or value != value for value in y):  # noqa: PLR0124
        raise ValueError("y must not have missing values, got some; leave out these rows")
    if graded and y.dtype.kind in "biuf" and len(np.unique(y)) > 2:
        return np.array([0, 1]), _relevances(y)
    if classes is None:
        classes = _two_classes(y)
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"y must hold only the classes {list(classes)}, got {list(unknown[:5])}")
    return classes, (y == classes[1]).astype(np.float64)


def _two_classes(y: NDArray[Any]) -> NDArray[Any]:
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    classes: NDArray[Any] = np.unique(y)
    if kind != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}: y has "
            f"{len(classes)} values, such as {list(classes[:5])}; make one of them the positive "
            "class (graded relevances want groups and an objective such as 'ndcg')"
        )
    if len(classes) < 2:
        raise ValueError(f"y must contain two classes, got only one class, {list(classes)}")
    return classes


def _relevances(y: NDArray[Any]) -> NDArray[np.float64]:
    values = y.astype(np.float64)
    if not np.isfinite(values).all() or values.min() < 0:
        raise ValueError(
            f"y must hold relevances >= 0 with this objective, got {values.min()} as the least"
        )
    return values


def read_weight(weight: Any, rows: Any) -> NDArray[np.float64] | None:
    """One weight >= 0 per row, some of them above zero."""
    if weight is None:
        return None
    checked: NDArray[np.float64] = _check_sample_weight(
        weight, rows, dtype=np.float64, ensure_non_negative=True
    )
    if not checked.any():
        raise ValueError("sample_weight must have values above zero, got a weight of zero for all")
    return checked


def read_groups(groups: Any, rows: int) -> NDArray[np.int64] | None:
    """Lists numbered 0, 1, … in the order of their ids, which may be anything that sorts."""
    if groups is None:
        return None
    ids = np.asarray(groups)
    if ids.shape != (rows,):
        raise ValueError(f"groups must have one id per row of X, {rows}, got shape {ids.shape}")
    missing = any(value is None for value in ids) if ids.dtype == object else False
    if missing or (ids.dtype.kind == "f" and np.isnan(ids).any()):
        raise ValueError("groups must not have missing values, got some; leave out these rows")
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)
