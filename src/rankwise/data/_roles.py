"""The columns with a role: target, group, time, score and weight."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data._formats import (
    are_compact,
    currency_of,
    find_format,
    has_value,
    in_utc,
    nearest_format,
    read_dates,
)
from rankwise.data.errors import DataError
from rankwise.data.reading import Rule

_YES = ("1", "true", "yes", "y", "t", "positive", "pos")
_SHOWN = 8  # values of a target that a message lists


def require_present(path: Path, what: str, column: pl.Series) -> None:
    """Raise on missing values, with their number and the first row."""
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
    """Return 0 and 1 with the value that became 1, or relevances and None."""
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
    """Return the values as they are written, 1.0 as 1."""
    if column.dtype.is_float() and bool((column == column.round()).all()):
        whole = column.cast(pl.Int64, strict=False)
        column = column if whole.has_nulls() else whole
    return column.cast(pl.String)


def _greater(column: pl.Series, values: list[str]) -> str | None:
    """Return the positive one of two values, if it is clear: the greater number, true, yes."""
    if len(values) != 2:
        return None
    if column.dtype.is_numeric():
        return max(values, key=float)
    known = [value for value in values if value.lower() in _YES]
    return known[0] if len(known) == 1 else None


def _same_number(word: str, values: list[str]) -> str | None:
    """Return the value that is the same number, or the same word in another case."""
    for value in values:
        try:
            if float(value) == float(word):
                return value
        except ValueError:
            if value.lower() == word.lower():
                return value
    return None


def read_time(
    path: Path, column: pl.Series, date_format: str | None = None
) -> tuple[NDArray[np.float64], bool, str | None]:
    """Return what orders the rows, whether it is microseconds since 1970, and the date format.

    Raises:
        DataError: Values are missing or cannot be read as time, or day and month cannot
            be distinguished.
    """
    require_present(path, "time", column)
    if column.dtype in (pl.Date, pl.Datetime):
        return _since_1970(in_utc(column)), True, None
    compact = column.dtype.is_integer() and are_compact(column)
    if column.dtype.is_numeric() and date_format is None and not compact:
        values = column.cast(pl.Float64).to_numpy()
        if not np.isfinite(values).all():
            raise DataError(
                f"{path}: the time column {column.name!r} must hold finite numbers, "
                f"got {values[~np.isfinite(values)][0]}; write a number there"
            )
        return values, False, None
    if column.dtype == pl.String or column.dtype.is_integer():
        words = column.cast(pl.String)
        form = date_format or _format_of(path, words)
        dates = read_dates(words, form)
        if dates.null_count():
            _refuse(path, words, dates, form)
        return _since_1970(dates), True, form
    raise DataError(
        f"{path}: the time column {column.name!r} must hold dates or numbers, got values of type "
        f"{column.dtype}; write dates such as 2023-01-25"
    )


def _format_of(path: Path, words: pl.Series) -> str:
    found = find_format(words)
    if found is None:
        _refuse(path, words, read_dates(words, nearest_format(words)), None)
    if found.other is not None:
        values = words.unique(maintain_order=True)[:2]
        raise DataError(
            f"{path}: the time column {words.name!r} may have the month or the day first: no value "
            f"has a number above 12 in either place, such as {_listed(values)}; say which with "
            f"--date-format {found.format} or --date-format {found.other}"
        )
    return found.format


def _refuse(path: Path, words: pl.Series, dates: pl.Series, form: str | None) -> NoReturn:
    wrong = words.filter(dates.is_null()).unique(maintain_order=True)
    rows = int(dates.is_null().sum())
    by = "" if form is None else f" by --date-format {form}"
    raise DataError(
        f"{path}: the time column {words.name!r} cannot be read as time{by} in {rows} of "
        f"{len(words)} rows, such as {_listed(wrong[:2])}; give the format of its dates with "
        "--date-format, such as %d/%m/%Y, or another column with --time"
    )


def _listed(values: pl.Series) -> str:
    return " and ".join(repr(value) for value in values)


def _since_1970(dates: pl.Series) -> NDArray[np.float64]:
    return dates.cast(pl.Int64).cast(pl.Float64).to_numpy()


def read_weights(path: Path, column: pl.Series) -> NDArray[np.float64]:
    """Return one finite number >= 0 per row, not all of them 0.

    Raises:
        DataError: A value is missing, a word, negative or infinite, or all are 0.
    """
    require_present(path, "weight", column)
    name = f"{path}: the weight column {column.name!r}"
    currency = currency_of(column) if column.dtype == pl.String else None
    numbers = Rule(column.name, "numeric", currency=currency)
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


def read_groups(path: Path, column: pl.Series) -> NDArray[np.int64]:
    """Return list numbers from 0 in the order of their ids."""
    require_present(path, "group", column)
    return (column.rank("dense").to_numpy() - 1).astype(np.int64)


def read_scores(path: Path, column: pl.Series) -> NDArray[np.float64]:
    """Return the scores of an existing model."""
    if not column.dtype.is_numeric():
        wrong = column.cast(pl.Float64, strict=False).is_null()
        first = (wrong.arg_max() or 0) + 1
        raise DataError(
            f"{path}: the score column {column.name!r} must hold numbers, "
            f"got {column[first - 1]!r} in row {first}"
        )
    require_present(path, "score", column)
    return column.cast(pl.Float64).to_numpy()
