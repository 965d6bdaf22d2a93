"""The columns of a table by what they hold: numbers, words or times."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["number", "category", "time"]

_WORDS = ("category", "categorical", "enum", "str", "object")
_SPANS = ("timedelta", "duration")
_REFUSED = ("struct", "list", "array", "binary", "interval")
_DAY = np.timedelta64(86_400_000_000, "us")


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one column.

    ``values`` are float64 with NaN for a number, ``datetime64[us]`` with NaT for a time, and a list
    of anything hashable for a category.
    """

    name: str
    kind: Kind
    values: Any  # of one of these three types

    def __len__(self) -> int:
        return len(self.values)


def columns_of(table: Any) -> list[Column] | None:
    """Return the columns of a frame or an object array; None for a plain matrix of numbers.

    Raises:
        ValueError: Two columns have the same name, or a column holds lists, bytes or intervals.
        TypeError: A cell is neither a number, a string, a date nor missing.
    """
    if hasattr(table, "columns") and hasattr(table, "dtypes"):
        return _of_frame(table)
    if isinstance(table, (list, tuple)):
        with suppress(ValueError):  # rows of different lengths
            cells = np.asarray(table, dtype=object)
            # Words and numbers are kept apart; numbers alone stay as they are.
            if any(isinstance(cell, (str, date)) for cell in cells.flat):
                table = cells
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind not in "OUSMm":
        return None
    return [_of_objects(str(place), table[:, place]) for place in range(table.shape[1])]


def is_gap(value: object) -> bool:
    """Return whether a value is missing: None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124  (NaN)
    except TypeError:  # pandas' NA is neither equal nor different
        return True


def _of_frame(table: Any) -> list[Column] | None:
    names, kinds = list(table.columns), [str(kind).lower() for kind in table.dtypes]
    if len(set(names)) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise ValueError(f"the columns of X must have different names, got {twice} more than once")
    special = (*_WORDS, *_SPANS, *_REFUSED, "date", "time", "period")
    if not any(kind.startswith(special) for kind in kinds):
        return None
    return [
        _of_series(str(name), kind, table[name]) for name, kind in zip(names, kinds, strict=True)
    ]


def column_of(series: Any) -> Column:
    """Return the column of one series of polars."""
    return _of_series(str(series.name), str(series.dtype).lower(), series)


def _of_series(name: str, kind: str, column: Any) -> Column:
    if kind.startswith(_REFUSED):
        raise ValueError(
            f"column {name!r} of X holds values of type {kind}, which no ranker can learn from; "
            "turn it into numbers, or leave it out"
        )
    if kind.startswith("object"):
        return _of_objects(name, np.asarray(column, dtype=object))
    if kind.startswith(_WORDS):
        return Column(name, "category", np.asarray(column, dtype=object).tolist())
    if kind.startswith(("date", "period")):
        return Column(name, "time", _times(column, kind))
    if kind.startswith(_SPANS):
        return Column(name, "number", np.asarray(column).astype("timedelta64[us]") / _DAY)
    if kind.startswith("time"):  # of day, by polars: nanoseconds since midnight
        return Column(name, "number", np.asarray(column.to_physical(), dtype=float) / 86_400e9)
    return Column(name, "number", np.asarray(column, dtype=float))


def _times(column: Any, kind: str) -> NDArray[np.datetime64]:
    """Convert to UTC, in microseconds: an instant is the same number whatever its zone."""
    if kind.startswith("period"):
        column = column.dt.to_timestamp()
    elif hasattr(column.dt, "convert_time_zone"):
        if getattr(column.dtype, "time_zone", None):
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    elif getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    return np.asarray(column).astype("datetime64[us]")


def _of_objects(name: str, cells: NDArray[np.generic]) -> Column:
    """Make a column of Python objects, of the kind of those that are not missing."""
    if cells.dtype.kind == "M":
        return Column(name, "time", cells.astype("datetime64[us]"))
    if cells.dtype.kind == "m":
        return Column(name, "number", cells.astype("timedelta64[us]") / _DAY)
    values = cells.tolist() if cells.dtype.kind in "US" else list(cells)
    present = [value for value in values if not is_gap(value)]
    if all(isinstance(value, (Real, np.bool_)) for value in present):
        numbers = [np.nan if is_gap(value) else float(value) for value in values]
        return Column(name, "number", np.array(numbers, dtype=float))
    if all(isinstance(value, (date, np.datetime64)) for value in present):
        times = [_instant(value) for value in values]
        return Column(name, "time", np.array(times, dtype="datetime64[us]"))
    known = (str, bytes, Real, np.bool_, date)
    for row, value in enumerate(values):
        if not isinstance(value, known) and not is_gap(value):
            raise TypeError(
                f"column {name!r} of X: every argument must be a string, a number, a date or "
                f"missing, got {type(value).__name__} in row {row}; turn it into one of these"
            )
    return Column(name, "category", values)


def _instant(value: Any) -> np.datetime64:
    if is_gap(value):
        return np.datetime64("NaT", "us")
    zone = getattr(value, "tzinfo", None)
    if zone is not None:
        value = (value - value.utcoffset()).replace(tzinfo=None)
    return np.datetime64(value, "us")
