"""Single lines of LETOR: what is wrong with one, and what its comment says."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankwise.data.errors import DataError

__all__ = ["LAST", "complain", "document_of", "labeled", "line_of", "sizes_of"]

LAST = 1_000_000
"""The greatest number of a feature: columns are held, or learned from, as wide as the last one."""

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PAIR = re.compile(rf"(\d+):({_NUMBER})")
_DOCUMENT = re.compile(rb"docid\s*=\s*(\S+)")
_NO_LABEL = re.compile(rb"^[ \t]*(?=[^\s#:]+:)", re.MULTILINE)  # the first word is name:value
_UNKNOWN_LABEL = re.compile(rb"^[ \t]*(?:\?|nan|na|none)(?=[ \t])", re.MULTILINE | re.IGNORECASE)
_WIDE = 80  # characters of a line that a message shows
_LARGEST = float(np.finfo(np.float32).max)  # features are kept as 32-bit numbers
_LAYOUT = "relevance qid:query feature:value …"


def complain(path: Path, *, judged: bool = True) -> None:
    """Raise for the first line that is malformed, or has a query where the first has none.

    Unless ``judged``, lines may lack the relevance.
    """
    first: bool | None = None
    for number, line in _data_lines(path):
        why, queried = _wrong(line if judged else labeled(line.encode()).decode())
        first = queried if first is None else first
        if not why and queried != first:
            why = "no qid:, other lines have one" if first else "qid:, the first line has none"
        if why:
            shown = line if len(line) <= _WIDE else line[:_WIDE] + "…"
            raise DataError(f"{path}: line {number}: {why}: {shown!r}; a line is {_LAYOUT}")


def labeled(text: bytes) -> bytes:
    """Lines with a relevance of 0 where there is none, or a word for a missing one."""
    return _NO_LABEL.sub(b"0 ", _UNKNOWN_LABEL.sub(b"0", text))


def line_of(path: Path, row: int) -> int:
    """The number of the line on which a row stands; comments and empty lines are no rows."""
    for place, (number, _) in enumerate(_data_lines(path)):
        if place == row:
            return number
    raise ValueError(f"{path} has no row {row}")


def document_of(line: bytes) -> str:
    """The id of a document in the comment of its line: ``docid = …``, or its first word."""
    _, mark, comment = line.partition(b"#")
    if not mark:
        return ""
    named = _DOCUMENT.search(comment)
    words = [named[1]] if named else comment.split()[:1]
    return words[0].decode(errors="replace") if words else ""


def sizes_of(path: Path, rows: int) -> NDArray[np.int64]:
    """Read the sizes of lists, one per line; they must add up to the number of rows."""
    sizes: list[int] = []
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        if not line.strip().isdecimal() or int(line) == 0:
            raise DataError(
                f"{path}: line {number}: a size must be a whole number >= 1, got {line!r}"
            )
        sizes.append(int(line))
    if sum(sizes) != rows:
        raise DataError(f"{path}: the sizes add up to {sum(sizes)}, the lists have {rows} rows")
    return np.array(sizes, dtype=np.int64)


def _data_lines(path: Path) -> Iterator[tuple[int, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            stripped = line.strip()
            if stripped and not stripped.startswith("#"):
                yield number, stripped


def _wrong(line: str) -> tuple[str, bool]:
    """What is wrong, if anything, and whether the line has a query."""
    label, *fields = line.partition("#")[0].split()
    queried = bool(fields) and fields[0].startswith("qid:")
    why = _wrong_relevance(label) or (_wrong_query(fields[0]) if queried else "")
    return why or _wrong_features(fields[queried:]), queried


def _wrong_relevance(label: str) -> str:
    if not re.fullmatch(_NUMBER, label):
        return f"the relevance {label!r} is no number"
    return "" if math.isfinite(float(label)) else f"the relevance {label!r} is too large"


def _wrong_query(field: str) -> str:
    if not re.fullmatch(r"qid:\d+", field):
        return f"{field!r} is no whole number"
    return "" if int(field[4:]) < 2**63 else f"{field!r} is too large"


def _wrong_features(fields: list[str]) -> str:
    before = -1
    for field in fields:
        pair = _PAIR.fullmatch(field)
        if pair is None:
            return f"{field!r} is no feature:value"
        if int(pair[1]) <= before:
            return f"feature {pair[1]} comes after feature {before}"
        before = int(pair[1])
        if before > LAST:
            return f"feature {before} is beyond the last that can be, {LAST}"
        if abs(float(pair[2])) > _LARGEST:
            return f"the value of {field!r} is beyond the range of 32-bit numbers"
    return ""
