"""The column that says how much a row counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data.errors import DataError
from rankwise.data.numbers import currency_of
from rankwise.data.reading import Rule
from rankwise.data.target import require_present

__all__ = ["read_weights"]


def read_weights(path: Path, column: pl.Series) -> NDArray[np.float64]:
    """One finite number >= 0 per row, not all of them 0.

    Raises:
        DataError: A value is missing, a word, negative or infinite, or all are 0.
    """
    require_present(path, "weight", column)
    name = f"{path}: the weight column {column.name!r}"
    numbers = Rule(column.name, "numeric", currency=_currency(column))
    if numbers.unread(column).any():
        row = numbers.unread(column).arg_max() or 0
        raise DataError(
            f"{name} must hold numbers, got {column[row]!r} in row {row + 1}; write a number there"
        )
    values = numbers.read(column).to_numpy()
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"{name} must hold finite numbers >= 0, got {values[row]:g} in row {row + 1}; "
            "write how often the row counts, or 0 to leave it out"
        )
    if not values.any():
        raise DataError(f"{name} is 0 in every row; at least one row of each class must count")
    return values


def _currency(column: pl.Series) -> str | None:
    return currency_of(column) if column.dtype == pl.String else None
