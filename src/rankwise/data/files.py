"""Columns from files: comma-separated values, parquet, svmlight."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import polars as pl

from rankwise.data._text import WIDE, opened
from rankwise.data.errors import DataError, parsing
from rankwise.data.letor._blocks import Sparse, load_rows
from rankwise.data.letor._lines import LAST, groups_of, line_of

_ENDINGS = {
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".svm", ".svmlight", ".libsvm"), "svmlight"),
}
_LINE = re.compile(rb"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deEnaif]+)+\s*(#.*)?$")
_SHOWN = 30  # columns that a message shows
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]


def format_of(path: Path) -> str:
    """Return ``csv``, ``parquet`` or ``svmlight``, by the ending or else by the first bytes."""
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    if path.is_dir():
        raise DataError(f"{path}: is a folder, not a table")
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    with opened(path) as file:
        start = file.readline(1_000_000)
    if start.startswith(b"PAR1"):
        return "parquet"
    if _LINE.match(start):
        return "svmlight"
    if not start:
        raise DataError(f"{path}: is empty")
    raise DataError(
        f"{path}: is not a known format; "
        "write .csv, .tsv, .parquet, .svm, .svmlight or .libsvm (.gz behind the first two)"
    )


def read_frame(path: Path, kind: str, *, dates: bool = True, as_text: bool = False) -> pl.DataFrame:
    """Read the columns of a csv or parquet file, of the types their values have.

    Args:
        path: The file.
        kind: ``csv`` or ``parquet``.
        dates: Parse words that look like dates, guessing which of day and month comes first.
        as_text: Keep the columns of a csv file as they are written.
    """
    try:
        frame = _csv(path, dates, as_text) if kind == "csv" else pl.read_parquet(path)
    except pl.exceptions.NoDataError:
        raise DataError(f"{path}: is empty") from None
    except (pl.exceptions.PolarsError, OSError) as error:  # OSError: a gzip that was cut off
        if kind == "csv":
            _complain(path)
        first = str(error).strip().splitlines()[0]
        raise DataError(f"{path}: cannot be read as {kind}: {first}") from error
    if not frame.height:
        raise DataError(f"{path}: is empty: {frame.width} columns and no rows")
    return frame


def scan_as_written(path: Path, kind: str, *, missing: bool = False) -> pl.LazyFrame:
    """Scan the columns of a csv file as text, those of a parquet file as they are.

    With ``missing``, words of a csv file that stand for no value, such as NA, are null.
    """
    if kind == "parquet":
        return pl.scan_parquet(path)
    words = _MISSING if missing else None
    return pl.scan_csv(path, separator=_header(path)[1], infer_schema=False, null_values=words)


def read_svmlight(path: Path) -> Sparse:
    """Read a file of svmlight or LETOR; feature 0 exists even where the file counts from 1.

    Queries are those of ``qid:``, or of the sizes in a file ``.query`` next to it, as LightGBM
    writes them.
    """
    with parsing(path, "svmlight"), opened(path) as file:
        found = load_rows(file, "rankwise.data")
    features, rows = found.features, len(found.target)
    if not rows:
        raise DataError(f"{path}: is empty")
    for wrong, why in (
        (np.isinf(features.data), "holds an infinite value; write a number there"),
        (features.indices > LAST, f"is beyond the last that can be, {LAST}"),
    ):
        if wrong.any():
            entry = int(wrong.argmax())
            line = line_of(path, int(np.searchsorted(features.indptr, entry, side="right")) - 1)
            raise DataError(f"{path}: line {line}: feature {features.indices[entry]} {why}")
    sizes = path.with_name(path.name + ".query")
    if len(found.queries) or not sizes.exists():
        return found
    return found._replace(queries=groups_of(sizes, rows))


def require_columns(path: Path, columns: Sequence[str], wanted: Sequence[str], role: str) -> None:
    """Raise where a column is not in the file, with the nearest name and those there are."""
    missing = [name for name in wanted if name not in columns]
    if not missing:
        return
    near = get_close_matches(missing[0], columns, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    shown = ", ".join(columns[:_SHOWN]) + (", …" if len(columns) > _SHOWN else "")
    raise DataError(
        f"{path}: there is no {role} column {missing[0]!r}; {hint}"
        f"the {len(columns)} columns are: {shown}"
    )


def require_finite(path: Path, frame: pl.DataFrame) -> None:
    """Raise where a number is infinite: no model can learn from it, or score it."""
    for column in frame:
        if column.dtype.is_numeric() and column.is_infinite().any():
            row = column.is_infinite().arg_max() or 0
            raise DataError(
                f"{path}: the column {column.name!r} holds {column[row]} in row {row + 1}; "
                "write a number there, or nothing"
            )


def _csv(path: Path, dates: bool, as_text: bool) -> pl.DataFrame:
    header, separator = _header(path)
    if twice := [name for name in dict.fromkeys(header) if header.count(name) > 1]:
        names = ", ".join(map(repr, twice))
        raise DataError(f"{path}: duplicate columns: {names}; every column needs its own name")
    return pl.scan_csv(
        path,
        separator=separator,
        infer_schema=not as_text,
        infer_schema_length=None,  # a letter in the last row decides a type, too
        null_values=_MISSING,
        try_parse_dates=dates and not as_text,
    ).collect()


def _complain(path: Path) -> None:
    """Raise for the first line with more fields than there are columns, which polars never names.

    It is slow, and called only where something is wrong.
    """
    header, separator = _header(path)
    try:
        with opened(path) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
            rows = csv.reader(text, delimiter=separator)
            for row in rows:
                if len(row) > len(header):
                    shown = separator.join(row)[:WIDE]
                    raise DataError(
                        f"{path}: line {rows.line_num}: {len(row)} fields where {len(header)} "
                        f"belong: {shown!r}; a field that holds {separator!r} needs quotes"
                    )
    except (csv.Error, OSError, EOFError):
        return  # what the reader itself said is all there is to say


def _header(path: Path) -> tuple[list[str], str]:
    """Return the names of the columns, before polars renames duplicates, and the separator.

    Spreadsheets of languages with decimal commas separate by semicolons.
    """
    with parsing(path, "csv"), opened(path) as file:
        line = file.readline().decode().rstrip("\r\n")
    if not line:
        raise DataError(f"{path}: is empty")
    separator = max(",;\t", key=line.count)
    (names,) = csv.reader([line], delimiter=separator)
    return names, separator
