"""The column that says what is to be found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data.errors import DataError

__all__ = ["has_value", "read_target", "require_present"]

_YES = ("1", "true", "yes", "y", "t", "positive", "pos")
_SHOWN = 8  # values of a target that a message lists


def has_value(column: pl.Series) -> pl.Series:
    """Whether a value is there, for every row."""
    there = column.is_not_null()
    return there & ~column.is_nan().fill_null(True) if column.dtype.is_float() else there


def require_present(path: Path, what: str, column: pl.Series) -> None:
    """Raise on missing values, with how many there are and where the first is."""
    missing = ~has_value(column)
    count = int(missing.sum())
    if count:
        first = (missing.arg_max() or 0) + 1
        raise DataError(
            f"{path}: the {what} column {column.name!r} is missing in {count} of {len(column)} "
            f"rows, first in row {first}; fill or remove them"
        )


def read_target(
    path: Path, column: pl.Series, positive: str | None, graded: bool
) -> tuple[NDArray[np.float64], str | None]:
    """0 and 1 with the value that became 1, or relevances without one; no value is missing."""
    if graded and positive is None:
        return _relevances(path, column), None
    words = _words(column)
    counts = words.value_counts(sort=True)
    values, numbers = counts.to_series(0).to_list(), counts.to_series(1).to_list()
    listed = ", ".join(f"{v!r} ({n})" for v, n in zip(values[:_SHOWN], numbers, strict=False))
    if len(values) > _SHOWN:
        listed += ", …"
    name = f"{path}: the target {column.name!r}"
    if len(values) == 1:
        raise DataError(f"{name} has one class only: {listed}; two are needed")
    if positive is None:
        positive = _greater(column, values)
    if positive is None:
        raise DataError(
            f"{name} has {len(values)} values: {listed}; say which one is to be found with "
            f"--positive"
        )
    if positive not in values:
        positive = _same_number(positive, values)
    if positive is None:
        raise DataError(f"{name} has the values {listed}; --positive must be one of them")
    return (words == positive).to_numpy().astype(np.float64), positive


def _relevances(path: Path, column: pl.Series) -> NDArray[np.float64]:
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise DataError(
            f"{path}: the target {column.name!r} must hold relevances, numbers >= 0, "
            f"got {column[0]!r} in row 1"
        )
    values = column.cast(pl.Float64).to_numpy()
    if not (np.isfinite(values).all() and values.min() >= 0):
        raise DataError(
            f"{path}: the target {column.name!r} must hold relevances, finite numbers >= 0, "
            f"got values from {values.min():g} to {values.max():g}"
        )
    if values.max() == values.min():
        raise DataError(
            f"{path}: the target {column.name!r} has one value only: {values[0]:g}; "
            "there is nothing to rank"
        )
    return values


def _words(column: pl.Series) -> pl.Series:
    """The values as they are written, 1.0 as 1."""
    if column.dtype.is_float() and bool((column == column.round()).all()):
        whole = column.cast(pl.Int64, strict=False)
        column = column if whole.has_nulls() else whole
    return column.cast(pl.String)


def _greater(column: pl.Series, values: list[str]) -> str | None:
    """Which of two values is plainly the positive one: the greater number, true, yes."""
    if len(values) != 2:
        return None
    if column.dtype.is_numeric():
        return max(values, key=float)
    known = [value for value in values if value.lower() in _YES]
    return known[0] if len(known) == 1 else None


def _same_number(word: str, values: list[str]) -> str | None:
    """The value that is the same number, or the same word in other letters."""
    for value in values:
        try:
            if float(value) == float(word):
                return value
        except ValueError:
            if value.lower() == word.lower():
                return value
    return None
