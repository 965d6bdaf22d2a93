"""The lines of LETOR and svmlight read with care: what is wrong with one, and which row it is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankwise.data._text import WIDE, opened, read_fields
from rankwise.data.errors import DataError
from rankwise.errors import short_repr
from rankwise.limits import MAX_SPARSE_FEATURE

LAST = MAX_SPARSE_FEATURE
"""The greatest number of a feature: columns are held, or learned from, as wide as the last one."""

_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_LONG = 100  # digits of a whole number, zeros before it included
_SIZE = re.compile(r"[1-9][0-9]{0,17}")
_PAIR = re.compile(rf"([0-9]+):({_NUMBER})")
_DOCUMENT = re.compile(rb"#(?:.*?docid\s*=)?\s*(\S+)")
_NO_LABEL = re.compile(rb"^[ \t]*(?=[^\s#:]+:)", re.MULTILINE)  # the first word is name:value
_UNKNOWN_LABEL = re.compile(rb"^[ \t]*(?:\?|nan|na|none)(?=[ \t])", re.MULTILINE | re.IGNORECASE)
_LARGEST = float(np.finfo(np.float32).max)  # features are kept as 32-bit numbers
_LAYOUT = "relevance qid:query feature:value …"


def complain(path: Path, *, judged: bool = True) -> None:
    """Raise for the first line that is malformed, or has a query where the first has none.

    Unless ``judged``, lines may lack the relevance.
    """
    first: bool | None = None
    with opened(path) as file:
        for number, given in data_lines(file):
            why, queried = _wrong((given if judged else labeled(given)).decode(errors="replace"))
            first = queried if first is None else first
            if not why and queried != first:
                why = "no qid:, other lines have one" if first else "qid:, the first line has none"
            if why:
                line = given.decode(errors="replace")
                cut = line if len(line) <= WIDE else line[:WIDE] + "…"
                raise DataError(f"{path}: line {number}: {why}: {cut!r}; a line is {_LAYOUT}")


def labeled(text: bytes) -> bytes:
    """Lines with a relevance of 0 where there is none, or a word for a missing one."""
    return _NO_LABEL.sub(b"0 ", _UNKNOWN_LABEL.sub(b"0", text))


def line_of(path: Path, row: int) -> int:
    """Return the line number of a row; comments and empty lines are not rows."""
    with opened(path) as file:
        for number, _ in islice(data_lines(file), row, None):
            return number
    raise ValueError(f"{path} has no row {row}")


def document_of(line: bytes) -> str:
    """The id of a document in the comment of its line: ``docid = …``, or its first word."""
    found = _DOCUMENT.search(line)
    return found[1].decode(errors="replace") if found else ""


def groups_of(path: Path, rows: int) -> NDArray[np.int64]:
    """Return the list of every row, by the sizes of the lists in a file, one per line."""
    sizes: list[int] = []
    for place, (size,) in read_fields(path, "size", errors="replace"):
        if not _SIZE.fullmatch(size):
            raise DataError(f"{place}: a size must be a whole number >= 1, got {short_repr(size)}")
        sizes.append(int(size))
    if sum(sizes) != rows:
        raise DataError(f"{path}: the sizes add up to {sum(sizes)}, the lists have {rows} rows")
    return np.repeat(np.arange(len(sizes)), sizes)


def data_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are neither comments nor empty, with their numbers."""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith(b"#"):
            yield number, text


def _wrong(line: str) -> tuple[str, bool]:
    """What is wrong, if anything, and whether the line has a query."""
    label, *fields = line.partition("#")[0].split() or [""]
    queried = bool(fields) and fields[0].startswith("qid:")
    if not re.fullmatch(_NUMBER, label):
        why = f"the relevance {short_repr(label)} is not a number"
    elif not math.isfinite(float(label)):
        why = f"the relevance {short_repr(label)} is too large"
    elif queried and not re.fullmatch(r"qid:[0-9]+", fields[0]):
        why = f"{short_repr(fields[0])} is not a whole number"
    elif queried and (len(fields[0]) > _LONG or int(fields[0][4:]) >= 2**63):
        why = f"{short_repr(fields[0])} is too large"
    else:
        why = _wrong_features(fields[queried:])
    return why, queried


def _wrong_features(fields: list[str]) -> str:
    before = -1
    for field in fields:
        pair = _PAIR.fullmatch(field)
        if pair is None:
            return f"{short_repr(field)} is not feature:value"
        if len(pair[1]) > _LONG:
            return f"feature {pair[1][:WIDE]}… is beyond the last that can be, {LAST}"
        if int(pair[1]) <= before:
            return f"feature {pair[1]} comes after feature {before}"
        before = int(pair[1])
        if before > LAST:
            return f"feature {before} is beyond the last that can be, {LAST}"
        if abs(float(pair[2])) > _LARGEST:
            return f"the value of {short_repr(field)} is beyond the range of 32-bit numbers"
    return ""
