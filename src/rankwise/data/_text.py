"""Text files of data: plain or gzip, and lines of fields with their place for messages."""

from __future__ import annotations

import csv
import gzip
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rankwise.data.errors import DataError, parsing

WIDE = 80  # characters of a line that a message shows


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open a file, plain or gzip, after the byte order mark that some editors begin it with."""
    zipped = path.suffix.lower() == ".gz"
    with gzip.open(path, "rb") if zipped else path.open("rb") as file:
        if file.read(len(BOM_UTF8)) != BOM_UTF8:
            file.seek(0)
        yield file


def read_fields(
    path: Path, layout: str, *, header: bool = False, blanks: bool = True, errors: str = "strict"
) -> Iterator[tuple[str, list[str]]]:
    """Yield the place (file and line) and the fields of every line; empty lines are skipped.

    ``layout`` has a word for every field. With ``header`` the first line must be ``layout`` itself;
    with ``blanks`` the last field may have blanks in it.
    """
    words, some = layout.split(), False
    with parsing(path, "text"), path.open(encoding="utf-8-sig", errors=errors) as file:
        if header and (first := file.readline()).split() != words:
            raise DataError(
                f"{path}: line 1: the header must be {layout!r}, got {first.strip()[:WIDE]!r}"
            )
        for number, line in enumerate(file, start=1 + header):
            fields = line.strip().split(maxsplit=len(words) - 1 if blanks else -1)
            if not fields:
                continue
            if len(fields) != len(words):
                raise DataError(
                    f"{path}: line {number}: {len(fields)} fields where {len(words)} belong: "
                    f"{line.strip()[:WIDE]!r}; a line is {layout!r}"
                )
            some = True
            yield f"{path}: line {number}", fields
    if not some:
        raise DataError(f"{path}: is empty; a line is {layout!r}")


def read_rows(path: Path, *columns: str) -> Iterator[tuple[str, dict[str | None, str | None]]]:
    """Yield the place and the values by column of every row of a csv that has these columns."""
    with parsing(path, "csv"), path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file, strict=True)
        names = rows.fieldnames or []
        if missing := [name for name in columns if name not in names]:
            raise DataError(
                f"{path}: line 1: there is no column {' and no '.join(missing)}; the columns are: "
                f"{', '.join(names)}"
            )
        for row in rows:
            yield f"{path}: line {rows.line_num}", dict(row)


def require_new(seen: dict[str, str], name: str, place: str) -> None:
    """Raise where a name was seen at another place, in this file or another; else keep it."""
    if seen.setdefault(name, place) != place:
        raise DataError(f"{place}: {name!r} is listed already, in {seen[name]}")
