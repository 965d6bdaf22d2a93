"""The layouts that interactions are published in, each read as columns by role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data._text import WIDE, opened, plain_source
from rankwise.data.errors import DataError, parsing
from rankwise.data.files import require_columns
from rankwise.errors import reason_of, short_repr
from rankwise.limits import MAX_HEADER_BYTES

USUAL = {
    "user": ("user_id", "userid", "user", "uid", "customer_id", "visitorid", "user_procid"),
    "item": (
        *("item_id", "itemid", "item", "iid", "movie_id", "movieid", "product_id"),
        "item_procid",
    ),
    "rating": ("rating", "ratings", "score", "stars", "value"),
    "time": ("timestamp", "time", "ts", "date", "datetime", "unix_timestamp"),
}
"""Usual names of the columns, by role."""

MOVIELENS: dict[str, tuple[str, int, str, tuple[float, float]]] = {
    "ml-100k": ("\t", 0, "user, item, rating and time, separated by tabs", (1, 5)),
    "ml-1m": ("::", 0, "user::item::rating::time", (1, 5)),
    "ml-20m": (",", 1, "userId,movieId,rating,timestamp", (0.5, 5)),
}
"""Separator, lines of the header, layout of a line and range of the ratings, by format."""

_ADJACENCY = "a user and their items, separated by spaces"
_ATOMIC = ("token", "token_seq", "float", "float_seq")


class Raw(NamedTuple):
    """Columns as a file has them: ``user``, ``item``, maybe ``rating`` and ``time``."""

    path: Path
    frame: pl.DataFrame
    first_line: int  # of the file, on which the first row stands; 0: rows are all there is
    limits: tuple[float, float] | None = None  # the ratings that the layout allows
    lines: NDArray[np.int64] | None = None  # of each row, where a line has several

    def where(self, row: int) -> str:
        """Where a row of the frame is, in words."""
        if self.lines is not None:
            return f"line {self.lines[row]}"
        return f"line {row + self.first_line}" if self.first_line else f"row {row + 1}"

    def error(self, row: int, message: str) -> DataError:
        """An error about a row, with its place."""
        return DataError(f"{self.path}: {self.where(row)}: {message}")


def read_delimited(
    path: Path, separator: str, names: Sequence[str], *, skip: int = 0, layout: str
) -> pl.DataFrame:
    """The fields of every line after the first ``skip``, as text; a quote is a letter.

    ``layout`` is how a line should look, for the message.
    """
    source = plain_source(path)
    if len(separator) > 1:  # polars parts by one byte
        content = source if isinstance(source, bytes) else path.read_bytes()
        source = content.replace(separator.encode(), b"\t")
    try:
        lines = pl.scan_csv(
            source,
            separator="\t" if len(separator) > 1 else separator,
            has_header=False,
            skip_rows=skip,
            new_columns=list(names),
            infer_schema=False,
            quote_char=None,
            raise_if_empty=False,
        )
        frame = lines.select(pl.all().str.strip_chars().replace("", None)).collect()
    except pl.exceptions.PolarsError as error:
        _require_fields(path, separator, len(names), skip, layout)
        raise DataError(f"{path}: cannot be read: {reason_of(error)}") from error
    if not frame.height:
        raise DataError(f"{path}: is empty; a line is {layout}")
    if frame[:, -1].has_nulls() or frame.width != len(names):  # so polars reads short lines
        _require_fields(path, separator, len(names), skip, layout)
    return frame


def _require_fields(path: Path, separator: str, count: int, skip: int, layout: str) -> None:
    """Raise for the first line with another number of fields."""
    with opened(path) as source:
        file = TextIOWrapper(source, encoding="utf-8", errors="replace")
        for number, line in enumerate(islice(file, skip, None), start=skip + 1):
            found = line.count(separator) + 1
            if found != count:
                raise DataError(
                    f"{path}: line {number}: {found} fields where {count} belong: "
                    f"{line.strip()[:WIDE]!r}; a line is {layout}"
                )


def adjacency(path: Path) -> Raw:
    """Lines of LightGCN: a user and all of their items, separated by spaces."""
    with parsing(path, "text"), opened(path) as file:
        fields = [line.split() for line in file.read().decode().splitlines()]
    counts = np.array([max(0, len(each) - 1) for each in fields], dtype=np.int64)
    if not counts.any():
        raise DataError(f"{path}: has no interaction; a line is {_ADJACENCY}")
    users = [each[0] if each else "" for each in fields]
    rows = np.repeat(np.arange(len(fields)), counts)
    items = [item for each in fields for item in each[1:]]
    frame = pl.DataFrame({"user": pl.Series(users)[rows], "item": items})
    return Raw(path, frame, 1, lines=rows + 1)


def atomic_frame(path: Path) -> pl.DataFrame:
    """All fields of one of RecBole's files, floats as numbers and the rest as text."""
    with parsing(path, "text"), path.open(encoding="utf-8", errors="replace") as file:
        header = file.readline(MAX_HEADER_BYTES).rstrip("\r\n").split("\t")
    kinds: dict[str, str] = {}
    for field in header:
        name, _, kind = field.rpartition(":")
        if not name or kind not in _ATOMIC:
            raise DataError(
                f"{path}: line 1: the header must have fields such as 'user_id:token', of type "
                f"{', '.join(_ATOMIC)}, got {short_repr(field)}"
            )
        kinds[name] = kind
    if len(kinds) < len(header):
        listed = ", ".join(header[:30])
        raise DataError(f"{path}: line 1: duplicate fields in the header: {listed}")
    frame = read_delimited(path, "\t", list(kinds), skip=1, layout=", ".join(header))
    floats = [name for name, kind in kinds.items() if kind == "float"]
    for name in floats:
        number = frame[name].cast(pl.Float64, strict=False)
        wrong = frame[name].is_not_null() & ~number.is_finite().fill_null(False)
        if wrong.any():
            row = wrong.arg_max() or 0
            raise DataError(
                f"{path}: line {row + 2}: {name[:WIDE]} is not a number, got "
                f"{short_repr(frame[name][row])}"
            )
    return frame.with_columns(pl.col(floats).cast(pl.Float64))


def named_columns(path: Path, frame: pl.DataFrame, given: Mapping[str, str]) -> pl.DataFrame:
    """Return the columns by role; those that were not named, by their usual names."""
    names = frame.columns
    lower = {name.lower(): name for name in reversed(names)}
    wanted = dict(given)
    for role, usual in USUAL.items():
        if role in given:
            require_columns(path, names, [given[role]], role)
        elif found := [lower[name] for name in usual if name in lower]:
            wanted[role] = found[0]
        elif role in ("user", "item"):
            shown = ", ".join(names[:30]) + (", …" if len(names) > 30 else "")
            raise DataError(
                f"{path}: there is no column with a usual name for the {role} ({usual[0]}); name "
                f"it with --{role}-column; the {len(names)} columns are: {shown}"
            )
    return frame.select(pl.col(name).alias(role) for role, name in wanted.items())
