"""Scores of a table with the ids of their rows, and the rows marked as trained on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from rankwise.data import DataError
from rankwise.data.files import format_of, require_columns, scan_as_written
from rankwise.files import require_unchanged_table

IN_TRAINING = "in_training"  # marks the rows that the model was trained on

# Digits that a number would not keep: the zeros of 007, the last ones of a long id.
_CODE = r"^\s*[+-]?(0\d|\d{16})"


def read_scores(
    path: Path, *, key: Sequence[str], score: str, keep: Sequence[str] = ()
) -> pl.DataFrame:
    """Read the ids as words, the scores as numbers, and other columns as they are written.

    Every row needs a score and, where a key is given, ids that no other row has. Columns to keep
    may be missing. A file that rankwise wrote must be as it was written.
    """
    kind = format_of(path)
    if kind == "svmlight":
        raise DataError(f"{path}: svmlight has no named columns; pass a csv or parquet file")
    require_unchanged_table(path)
    source = scan_as_written(path, kind)
    columns = source.collect_schema().names()
    require_columns(path, columns, list(key), "id")
    require_columns(path, columns, [score], "score")
    kept = [name for name in keep if name in columns]
    frame = source.select(list(dict.fromkeys((*key, score, *kept)))).collect()
    numbers = frame[score].cast(pl.Float64, strict=False)
    wrong = numbers.is_null() | numbers.is_nan()
    if wrong.any():
        row = wrong.arg_max() or 0
        raise DataError(
            f"{path}: the score column {score!r} must hold a number in every row, got "
            f"{frame[score][row]!r} in row {row + 1}"
        )
    frame = frame.with_columns(*(pl.col(name).cast(pl.String) for name in key), numbers)
    for name in key:
        if (absent := frame[name].is_null() | (frame[name] == "")).any():
            row = (absent.arg_max() or 0) + 1
            raise DataError(f"{path}: the id column {name!r} has no value in row {row}")
    if key and (twice := frame.select(key).is_duplicated()).any():
        row = twice.arg_max() or 0
        shown = ", ".join(f"{name} {frame[name][row]!r}" for name in key)
        raise DataError(
            f"{path}: several rows have {shown}; name the columns that identify a row with --id, "
            "and its list with --group"
        )
    return frame


def trained_on(path: Path) -> int | None:
    """Count the rows that the file marks as trained on; None without such a column."""
    source = scan_as_written(path, format_of(path))
    if IN_TRAINING not in source.collect_schema().names():
        return None
    marks = source.select(IN_TRAINING).collect().to_series().cast(pl.String).str.to_lowercase()
    return int(marks.is_in(["true", "1"]).sum())


def training_warning(count: int | None, rows: int) -> str | None:
    """Return why numbers of these rows are too good; None where no row is marked."""
    if not count:
        return None
    return (
        f"{count} of {rows} rows equal a row the model was trained on: these numbers are not an "
        "estimate for new rows; `rankwise evaluate RUN` has one, from the rows that the run held "
        "out"
    )


def typed(text: pl.Series) -> pl.Series:
    """Parse numbers, unless digits would be lost."""
    if not text.str.contains(_CODE).any():
        for kind in (pl.Int64, pl.Float64):
            numbers = text.cast(kind, strict=False)
            if numbers.null_count() == text.null_count():
                return numbers
    return text
