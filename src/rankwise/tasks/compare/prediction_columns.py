"""The columns of a file of predictions: those kept from the input, and those written beside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from rankwise.data import DataError
from rankwise.data.checks import require_columns
from rankwise.data.files import format_of, read_svmlight, scan_as_written
from rankwise.data.reader import QUERY

__all__ = ["IN_TRAINING", "kept_columns"]

IN_TRAINING = "in_training"  # marks the rows that the model was trained on
_WRITTEN = ("score", "probability", IN_TRAINING)
_ALL = "all"
# Digits that a number would not keep: the zeros of 007, the last ones of a long id.
_CODE = r"^\s*[+-]?(0\d|\d{16})"


def kept_columns(path: Path, keep: Sequence[str]) -> pl.DataFrame:
    """The columns named, or every column for ``all``, with the values that the file holds.

    A string may name several columns, separated by commas. A column that the predictions have
    themselves is refused.
    """
    if not keep:
        return pl.DataFrame()
    source = _source(path)
    columns = source.collect_schema().names()
    names = _names(keep, columns)
    require_columns(path, columns, names, "--keep")
    taken = [name for name in names if name in _WRITTEN]
    if taken:
        raise DataError(
            f"{path}: --keep cannot keep the column {taken[0]!r}, since the predictions have a "
            f"column of that name; rename it in the file, or keep other columns by their names"
        )
    found = source.select(names).collect()
    return found if format_of(path) != "csv" else pl.DataFrame([_typed(each) for each in found])


def _source(path: Path) -> pl.LazyFrame:
    kind = format_of(path)
    if kind != "svmlight":
        return scan_as_written(path, kind)
    read = read_svmlight(path)
    queries = {} if read.queries is None else {QUERY: read.queries}
    return pl.LazyFrame({"target": read.target, **queries})


def _names(keep: Sequence[str], columns: Sequence[str]) -> list[str]:
    names: list[str] = []
    for text in keep:
        if text == _ALL:
            names += columns
        elif text in columns:  # one whose name has a comma
            names.append(text)
        else:
            names += [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise DataError(f"--keep must name a column or be {_ALL!r}, got {', '.join(keep)!r}")
    return list(dict.fromkeys(names))


def _typed(text: pl.Series) -> pl.Series:
    """Numbers as numbers, unless digits would be lost."""
    if not text.str.contains(_CODE).any():
        for kind in (pl.Int64, pl.Float64):
            numbers = text.cast(kind, strict=False)
            if numbers.null_count() == text.null_count():
                return numbers
    return text
