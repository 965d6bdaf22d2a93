"""Text files of data: plain or gzip, and lines of fields with their place for messages."""

from __future__ import annotations

import csv
import gzip
import io
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankwise.data.errors import DataError, parsing
from rankwise.errors import short_repr
from rankwise.files import require_growth
from rankwise.limits import MAX_HEADER_BYTES

WIDE = 80  # characters of a line that a message shows
_COLUMNS = 30  # names of columns that a message shows
_BUFFER = 1 << 17
_DIGITS = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?"
_NUMBER = re.compile(rf"\s*[-+]?(?:{_DIGITS}|inf|nan)\s*", re.IGNORECASE)
_WHOLE = re.compile(r"\s*[-+]?[0-9]{1,18}\s*")
_GZIP = b"\x1f\x8b"
_PACKED = (_GZIP, b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x9c", b"\x78\xda")


class _Bounded(io.RawIOBase):
    """The content of a gzip file, up to the size that it may grow to."""

    def __init__(self, path: Path) -> None:
        self.path, self.size, self.done = path, path.stat().st_size, 0
        self.file = gzip.GzipFile(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # Python 3.12 has a type for it
        count = self.file.readinto(buffer)
        self.done += count
        require_growth(self.path, self.done, self.size)
        return count

    def close(self) -> None:
        self.file.close()
        super().close()


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader[io.RawIOBase]]:
    """Open a file, plain or gzip, after the byte order mark that some editors begin it with."""
    zipped = path.suffix.lower() == ".gz"
    raw: io.RawIOBase = _Bounded(path) if zipped else path.open("rb", buffering=0)
    with io.BufferedReader(raw, _BUFFER) as file:
        if file.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
            file.read(len(BOM_UTF8))
        yield file


def plain_source(path: Path) -> Path | bytes:
    """Return what polars reads as text: the file, or the content of one that is compressed.

    Polars unpacks whatever its first bytes say, to any size; this goes no further than it may.
    """
    with path.open("rb") as file:
        head = file.read(4)
    if head.startswith(_GZIP) or path.suffix.lower() == ".gz":
        with io.BufferedReader(_Bounded(path), _BUFFER) as unpacked:
            content = unpacked.read()
        head = content[:4]
    else:
        content = None
    if head.startswith(_PACKED):
        raise DataError(f"{path}: is compressed in a way that is not read; unpack it, or use gzip")
    return path if content is None else content


def read_fields(
    path: Path, layout: str, *, header: bool = False, blanks: bool = True, errors: str = "strict"
) -> Iterator[tuple[str, list[str]]]:
    """Yield the place (file and line) and the fields of every line; empty lines are skipped.

    ``layout`` has a word for every field. With ``header`` the first line must be ``layout`` itself;
    with ``blanks`` the last field may have blanks in it.
    """
    words, some = layout.split(), False
    with parsing(path, "text"), path.open(encoding="utf-8-sig", errors=errors) as file:
        if header and (first := file.readline(MAX_HEADER_BYTES)).split() != words:
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
                f"{', '.join(name[:WIDE] for name in names[:_COLUMNS])}"
            )
        for row in rows:
            yield f"{path}: line {rows.line_num}", dict(row)


def as_number(text: str) -> float:
    """Return the number of a field; unlike ``float``, ``1_0`` and other alphabets are none."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{short_repr(text)} is not a number")
    return float(text)


def as_whole(text: str) -> int:
    """Return the whole number of a field, of at most 18 digits: those fit into 64 bits."""
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{short_repr(text)} is not a whole number")
    return int(text)


def require_new(seen: dict[str, str], name: str, place: str) -> None:
    """Raise where a name was seen at another place, in this file or another; else keep it."""
    if seen.setdefault(name, place) != place:
        raise DataError(f"{place}: {short_repr(name)} is listed already, in {seen[name]}")
