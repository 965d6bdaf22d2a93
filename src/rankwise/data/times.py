"""The column that orders the rows: numbers, or dates by an explicit format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data.dates import are_compact, find_format, nearest_format, read_dates
from rankwise.data.errors import DataError
from rankwise.data.reading import Rule
from rankwise.data.target import require_present

__all__ = ["read_time"]


def read_time(
    path: Path, column: pl.Series, date_format: str | None = None
) -> tuple[NDArray[np.float64], bool, str | None]:
    """Numbers in the order of the rows, whether they are microseconds since 1970, and the format.

    Raises:
        DataError: Values are missing or cannot be read as time, or day and month cannot be told
            apart.
    """
    require_present(path, "time", column)
    if column.dtype in (pl.Date, pl.Datetime):
        return _since_1970(Rule(column.name, "time").read(column)), True, None
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
        form = nearest_format(words)
        _refuse(path, words, read_dates(words, form), None)
        return form
    if found.other is not None:
        values = words.unique(maintain_order=True)[:2]
        raise DataError(
            f"{path}: the time column {words.name!r} may have the month or the day first: no value "
            f"has a number above 12 in either place, such as {_listed(values)}; say which with "
            f"--date-format {found.format} or --date-format {found.other}"
        )
    return found.format


def _refuse(path: Path, words: pl.Series, dates: pl.Series, form: str | None) -> None:
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
