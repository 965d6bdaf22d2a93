"""From a file to columns: comma-separated values, parquet, svmlight."""

from __future__ import annotations

import csv
import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data.errors import DataError

__all__ = ["Sparse", "format_of", "read_frame", "read_svmlight"]

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
_LINE = re.compile(rb"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deEnaif]+)+\s*(#.*)?$")
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]


@dataclass(frozen=True, eq=False)
class Sparse:
    """A file of svmlight: labels, features by number, and which query each line belongs to."""

    features: sparse.csr_array
    target: NDArray[np.float64]
    queries: NDArray[np.int64] | None


def format_of(path: Path) -> str:
    """``csv``, ``parquet`` or ``svmlight``: by the ending, or else by how the file begins."""
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    if path.is_dir():
        raise DataError(f"{path}: is a folder, not a table")
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] == ".gz":
        endings.pop()
    if endings and endings[-1] in _ENDINGS:
        return _ENDINGS[endings[-1]]
    with _opened(path) as file:
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


def read_frame(path: Path, kind: str) -> pl.DataFrame:
    """The columns of a csv or parquet file, of the types their values have."""
    try:
        frame = _csv(path) if kind == "csv" else pl.read_parquet(path)
    except pl.exceptions.NoDataError:
        raise DataError(f"{path}: is empty") from None
    except (pl.exceptions.PolarsError, OSError) as error:  # OSError: a gzip that was cut off
        first = str(error).strip().splitlines()[0]
        raise DataError(f"{path}: cannot be read as {kind}: {first}") from error
    if not frame.height:
        raise DataError(f"{path}: is empty: {frame.width} columns and no rows")
    return frame


def read_svmlight(path: Path) -> Sparse:
    """A file of svmlight or LETOR; feature 0 is there even where the file counts from 1.

    Queries are those of ``qid:``, or of the sizes in a file ``.query`` beside it, as LightGBM has
    them.
    """
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415  (a second to import)

    try:
        found, target, queries = load_svmlight_file(str(path), query_id=True, zero_based=True)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{path}: cannot be read as svmlight: {error}") from error
    if not len(target):
        raise DataError(f"{path}: is empty")
    if np.isinf(found.data).any():
        row = int(np.searchsorted(found.indptr, np.isinf(found.data).argmax(), side="right"))
        raise DataError(f"{path}: line {row} holds an infinite value; write a number there")
    sizes = path.with_name(path.name + ".query")
    if not len(queries) and sizes.exists():
        queries = _queries_of_sizes(sizes, len(target))
    some = len(queries) > 0
    return Sparse(sparse.csr_array(found), target, np.asarray(queries) if some else None)


def _csv(path: Path) -> pl.DataFrame:
    header, separator = _header(path)
    seen: set[str] = set()
    twice = [name for name in header if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    if twice:
        names = ", ".join(repr(name) for name in dict.fromkeys(twice))
        raise DataError(f"{path}: duplicate columns: {names}; every column needs its own name")
    return pl.scan_csv(
        path,
        separator=separator,
        infer_schema_length=None,  # a letter in the last row decides a type, too
        null_values=_MISSING,
        try_parse_dates=True,
    ).collect()


def _header(path: Path) -> tuple[list[str], str]:
    """The names of the columns, which the reader itself would make different, and what parts them.

    A file for a spreadsheet of a language with decimal commas parts by semicolons.
    """
    try:
        with _opened(path) as file:
            line = file.readline().decode("utf-8-sig").rstrip("\r\n")
    except (UnicodeDecodeError, OSError, EOFError) as error:
        raise DataError(f"{path}: cannot be read as csv: {error}") from error
    if not line:
        raise DataError(f"{path}: is empty")
    separator = max(",;\t", key=line.count)
    (names,) = csv.reader([line], delimiter=separator)
    return names, separator


def _opened(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


def _queries_of_sizes(path: Path, rows: int) -> NDArray[np.int64]:
    try:
        sizes = np.loadtxt(path, dtype=np.int64, ndmin=1)
    except ValueError as error:
        raise DataError(f"{path}: must hold one size per line: {error}") from error
    if sizes.sum() != rows:
        raise DataError(f"{path}: the sizes add up to {sizes.sum()}, the table has {rows} rows")
    return np.repeat(np.arange(len(sizes)), sizes)
