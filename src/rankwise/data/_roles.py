"""The columns with a role: target, group, time, score and weight.

Errors say what is wrong with the values; :func:`read_role` adds the file and the column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data import reading
from rankwise.data.errors import DataError
from rankwise.data.reading import Rule
from rankwise.errors import short_repr

_YES = ("1", "true", "yes", "y", "t", "positive", "pos")
_SHOWN = 8  # values of a target that a message lists
MAX_CLASSES = 50  # of a target: more are an id or a number, rather than classes
Read = TypeVar("Read")


def read_role(path: Path, role: str, column: pl.Series, read: Callable[[pl.Series], Read]) -> Read:
    """Read the column of a role; errors name the file, the role and the column."""
    try:
        return read(column)
    except DataError as error:
        what = role if role == "target" else f"{role} column"
        raise DataError(f"{path}: the {what} {short_repr(column.name)} {error}") from None


def require_present(column: pl.Series) -> None:
    """Raise on missing values, with their number and the first row."""
    missing = ~reading.has_value(column)
    if missing.any():
        raise DataError(
            f"is missing in {missing.sum()} of {len(column)} rows, first in row "
            f"{(missing.arg_max() or 0) + 1}; fill or remove them"
        )


def read_target(
    column: pl.Series, positive: str | None, graded: bool
) -> tuple[NDArray[np.float64], str | None]:
    """Return 0 and 1 with the value that became 1, or relevances and None."""
    if graded and positive is None:
        return _relevances(column), None
    words = _words(column)
    counts = dict(words.value_counts(sort=True).iter_rows())
    positive = choose_positive(counts, positive, numeric=column.dtype.is_numeric())
    return (words == positive).to_numpy().astype(np.float64), positive


def read_labels(
    path: Path, column: pl.Series, positive: str | None, *, graded: bool, several: bool
) -> tuple[NDArray[np.float64], str | None, tuple[str, ...]]:
    """Return the target as numbers, the value that became 1, and the names of several classes."""
    if several and positive is None and not graded:
        classes = read_role(path, "target", column, read_classes)
        if classes is not None:
            return classes[0], None, classes[1]
    read = partial(read_target, positive=positive, graded=graded)
    return *read_role(path, "target", column, read), ()


def read_classes(column: pl.Series) -> tuple[NDArray[np.float64], tuple[str, ...]] | None:
    """Return the number of the class of every row, and the classes as they are written.

    Numbers are in ascending order, words in that of the alphabet. None for one value or two.

    Raises:
        DataError: There are more values than a target of classes has.
    """
    words = _words(column)
    counts = words.unique()
    if len(counts) <= 2:
        return None
    if len(counts) > MAX_CLASSES:
        shown = ", ".join(map(short_repr, words.unique(maintain_order=True)[:_SHOWN]))
        raise DataError(
            f"has {len(counts)} values: {shown}, …; up to {MAX_CLASSES} can be classes: name one "
            "of them with --positive, or join the rare ones"
        )
    numeric = column.dtype.is_numeric()
    labels = sorted(counts, key=float) if numeric else sorted(counts)
    numbers = {label: float(number) for number, label in enumerate(labels)}
    return words.replace_strict(numbers, return_dtype=pl.Float64).to_numpy(), tuple(labels)


def choose_positive(counts: Mapping[str, int], positive: str | None, *, numeric: bool) -> str:
    """Return the value of a target that is the positive class.

    Args:
        counts: Number of rows with each value, as it is written.
        positive: The value as it was asked for; None: decide.
        numeric: Whether the values are numbers.

    Raises:
        DataError: It is not there, or it is not clear which one it is.
    """
    values = list(counts)
    listed = ", ".join(f"{short_repr(value)} ({n})" for value, n in list(counts.items())[:_SHOWN])
    if len(values) > _SHOWN:
        listed += ", …"
    if len(values) == 1:
        raise DataError(f"has one class only: {listed}; two are needed")
    if positive is None:
        found = _greater(values, numeric=numeric)
        if found is None:
            raise DataError(
                f"has {len(values)} values: {listed}; say which one is to be found with --positive"
            )
        return found
    if positive in values:
        return positive
    same = same_value(positive, values)
    if same is None:
        raise DataError(f"has the values {listed}; --positive must be one of them")
    return same


def _relevances(column: pl.Series) -> NDArray[np.float64]:
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise DataError(f"must hold relevances, numbers >= 0, got {short_repr(column[0])} in row 1")
    values = column.cast(pl.Float64).to_numpy()
    low, high = values.min(), values.max()
    if not (np.isfinite(values).all() and low >= 0):
        raise DataError(
            f"must hold relevances, finite numbers >= 0, got values from {low:g} to {high:g}"
        )
    if high == low:
        raise DataError(f"has one value only: {low:g}; there is nothing to rank")
    return values


def _words(column: pl.Series) -> pl.Series:
    """Return the values as they are written, 1.0 as 1."""
    if column.dtype.is_float() and bool((column == column.round()).all()):
        whole = column.cast(pl.Int64, strict=False)
        column = column if whole.has_nulls() else whole
    return column.cast(pl.String)


def _greater(values: list[str], *, numeric: bool) -> str | None:
    """Return the positive one of two values, if it is clear: the greater number, true, yes."""
    if len(values) != 2:
        return None
    if numeric:
        return max(values, key=float)
    known = [value for value in values if value.lower() in _YES]
    return known[0] if len(known) == 1 else None


def same_value(word: str, values: Iterable[str]) -> str | None:
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
    column: pl.Series, date_format: str | None = None
) -> tuple[NDArray[np.float64], bool, str | None]:
    """Return what orders the rows, whether it is microseconds since 1970, and the date format.

    Raises:
        DataError: Values are missing or cannot be read as time, or day and month cannot
            be distinguished.
    """
    require_present(column)
    if column.dtype in (pl.Date, pl.Datetime):
        return _since_1970(reading.in_utc(column)), True, None
    compact = column.dtype.is_integer() and reading.are_compact(column)
    if column.dtype.is_numeric() and date_format is None and not compact:
        values = column.cast(pl.Float64).to_numpy()
        if not np.isfinite(values).all():
            wrong = values[~np.isfinite(values)][0]
            raise DataError(f"must hold finite numbers, got {wrong}; write a number there")
        return values, False, None
    if column.dtype != pl.String and not column.dtype.is_integer():
        raise DataError(
            f"must hold dates or numbers, got values of type {column.dtype}; write dates such as "
            "2023-01-25"
        )
    words = column.cast(pl.String)
    form, by = date_format, f" by --date-format {date_format}"
    if form is None and (found := reading.find_format(words)) is not None:
        form = found.format
        if found.other is not None:
            raise DataError(
                "may have the month or the day first: no value has a number above 12 in either "
                f"place, such as {_first_two(words)}; say which with --date-format {form} or "
                f"--date-format {found.other}"
            )
    dates = reading.read_dates(words, form or reading.nearest_format(words))
    if form is None or dates.null_count():
        raise DataError(
            f"cannot be read as time{by if date_format else ''} in {dates.null_count()} of "
            f"{len(words)} rows, such as {_first_two(words.filter(dates.is_null()))}; give the "
            "format of its dates with --date-format, such as %d/%m/%Y, or another column with "
            "--time"
        )
    return _since_1970(dates), True, form


def _first_two(words: pl.Series) -> str:
    return " and ".join(map(repr, words.unique(maintain_order=True)[:2]))


def _since_1970(dates: pl.Series) -> NDArray[np.float64]:
    return dates.cast(pl.Int64).cast(pl.Float64).to_numpy()


def read_weights(column: pl.Series) -> NDArray[np.float64]:
    """Return one finite number >= 0 per row, not all of them 0.

    Raises:
        DataError: A value is missing, a word, negative or infinite, or all are 0.
    """
    require_present(column)
    currency = reading.currency_of(column) if column.dtype == pl.String else None
    numbers = Rule(column.name, "numeric", currency=currency)
    if (unread := numbers.unread(column)).any():
        row = unread.arg_max() or 0
        raise DataError(
            f"must hold numbers, got {short_repr(column[row])} in row {row + 1}; "
            "write a number there"
        )
    values = numbers.read(column).to_numpy()
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"must hold finite numbers >= 0, got {values[row]:g} in row {row + 1}; "
            "write how often the row counts, or 0 to leave it out"
        )
    if not values.any():
        raise DataError("is 0 in every row; at least one row of each class must count")
    return values


def read_groups(column: pl.Series) -> NDArray[np.int64]:
    """Return list numbers from 0 in the order of their ids."""
    require_present(column)
    return (column.rank("dense").to_numpy() - 1).astype(np.int64)


def read_scores(column: pl.Series) -> NDArray[np.float64]:
    """Return the scores of an existing model."""
    if not column.dtype.is_numeric():
        row = column.cast(pl.Float64, strict=False).is_null().arg_max() or 0
        raise DataError(f"must hold numbers, got {short_repr(column[row])} in row {row + 1}")
    require_present(column)
    return column.cast(pl.Float64).to_numpy()
