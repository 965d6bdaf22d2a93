"""Columns from files: comma-separated values, parquet, svmlight."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import polars as pl

from rankwise._parquet import require_parquet
from rankwise.data._text import WIDE, opened, plain_source
from rankwise.data.errors import DataError, parsing
from rankwise.data.letor._blocks import Sparse, load_rows
from rankwise.data.letor._lines import LAST, groups_of, line_of
from rankwise.errors import reason_of, short_repr
from rankwise.limits import MAX_COLUMNS, MAX_HEADER_BYTES

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
    with parsing(path, "a table"), opened(path) as file:
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
    if kind == "parquet":
        require_parquet(path, DataError)
    with parsing(path, kind):
        try:
            frame = _csv(path, dates, as_text) if kind == "csv" else pl.read_parquet(path)
        except pl.exceptions.NoDataError:
            raise DataError(f"{path}: is empty") from None
        except pl.exceptions.PolarsError as error:
            if kind == "csv":
                _complain(path)
            first = reason_of(error).partition(". ")[0]
            raise DataError(f"{path}: cannot be read as {kind}: {first}") from error
    if not frame.height:
        raise DataError(f"{path}: is empty: {frame.width} columns and no rows")
    return frame


def scan_as_written(path: Path, kind: str, *, missing: bool = False) -> pl.LazyFrame:
    """Scan the columns of a csv file as text, those of a parquet file as they are.

    With ``missing``, words of a csv file that stand for no value, such as NA, are null.
    """
    if kind == "parquet":
        require_parquet(path, DataError)
        return pl.scan_parquet(path)
    words = _MISSING if missing else None
    with parsing(path, "csv"):
        return pl.scan_csv(
            plain_source(path), separator=_header(path)[1], infer_schema=False, null_values=words
        )


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
    hint = f"did you mean {short_repr(near[0])}? " if near else ""
    listed = ", ".join(name[:WIDE] for name in columns[:_SHOWN])
    more = ", …" if len(columns) > _SHOWN else ""
    raise DataError(
        f"{path}: there is no {role} column {short_repr(missing[0])}; {hint}"
        f"the {len(columns)} columns are: {listed}{more}"
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
    if twice := [name for name, count in Counter(header).items() if count > 1]:
        names = ", ".join(map(short_repr, twice[:_SHOWN])) + (", …" if len(twice) > _SHOWN else "")
        raise DataError(f"{path}: duplicate columns: {names}; every column needs its own name")
    return pl.scan_csv(
        plain_source(path),
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
                    given = separator.join(row)[:WIDE]
                    raise DataError(
                        f"{path}: line {rows.line_num}: {len(row)} fields where {len(header)} "
                        f"belong: {given!r}; a field that holds {separator!r} needs quotes"
                    )
    except (csv.Error, OSError, EOFError):
        return  # what the reader itself said is all there is to say


def _header(path: Path) -> tuple[list[str], str]:
    """Return the names of the columns, before polars renames duplicates, and the separator.

    Spreadsheets of languages with decimal commas separate by semicolons.
    """
    with parsing(path, "csv"), opened(path) as file:
        first = file.readline(MAX_HEADER_BYTES + 1)
        if len(first) > MAX_HEADER_BYTES:
            raise DataError(
                f"{path}: line 1 has more than {MAX_HEADER_BYTES:,} bytes, no header of a table is "
                "that long; write one name per column, then a line per row"
            )
        line = first.decode().rstrip("\r\n")
        if not line:
            raise DataError(f"{path}: is empty")
        if "\r" in line and '"' not in line:
            raise DataError(
                f"{path}: its lines end with a carriage return alone; end them with a line feed"
            )
        separator = max(",;\t", key=line.count)
        if (count := line.count(separator) + 1) > MAX_COLUMNS:
            raise DataError(
                f"{path}: has {count:,} columns, at most {MAX_COLUMNS:,} are read; write rows that "
                "are mostly empty as svmlight"
            )
        names = next(csv.reader([line], delimiter=separator))
    return names, separator
