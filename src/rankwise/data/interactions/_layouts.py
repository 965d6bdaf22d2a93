"""Published layouts of interactions: MovieLens, RecBole's atomic files, named columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import polars as pl

from rankwise.data._text import WIDE
from rankwise.data.errors import DataError
from rankwise.data.files import format_of, read_frame, require_columns

Types = Mapping[str, type[pl.String] | type[pl.Float64]]


def read_delimited(
    path: Path, separator: str, types: Types, *, skip: int = 0, layout: str, gaps: bool = False
) -> pl.DataFrame:
    """The fields of every line after the first ``skip``; :class:`DataError` names a wrong line.

    The file is read by polars; only where something is wrong is it looked through line by line.
    ``layout`` is how a line should look, for the message; with ``gaps`` a field may be empty.
    """
    try:
        frame = _read(path, separator, types, skip)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        _complain(path, separator, types, skip=skip, layout=layout, gaps=gaps)
        raise DataError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from error
    if not frame.height:
        raise DataError(f"{path}: is empty; a line is {layout}")
    numbers = [pl.col(name) for name, kind in types.items() if kind == pl.Float64]
    wrong = pl.any_horizontal(pl.all().is_null(), *(~number.is_finite() for number in numbers))
    if frame.select(wrong.any()).item():
        _complain(path, separator, types, skip=skip, layout=layout, gaps=gaps)
    return frame


def _read(path: Path, separator: str, types: Types, skip: int) -> pl.DataFrame:
    source: Path | bytes = path
    if len(separator) > 1:  # polars parts by one byte
        source = path.read_bytes().replace(separator.encode(), b"\t")
        separator = "\t"
    lines = pl.scan_csv(
        source,
        separator=separator,
        has_header=False,
        skip_rows=skip,
        new_columns=list(types),
        infer_schema=False,
        quote_char=None,
        raise_if_empty=False,
    )
    if not lines.collect_schema().names():
        return pl.DataFrame(schema=dict(types))
    if len(lines.collect_schema()) != len(types):
        raise pl.exceptions.ShapeError("another number of fields")
    typed = (pl.col(n).str.strip_chars().cast(t, strict=False) for n, t in types.items())
    return lines.select(typed).collect()


def _complain(
    path: Path, separator: str, types: Types, *, skip: int, layout: str, gaps: bool
) -> None:
    """Raise for the first line that does not fit."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(islice(file, skip, None), start=skip + 1):
            why = _wrong(line.rstrip("\r\n").split(separator), types, gaps)
            if why:
                shown = line.strip()[:WIDE]
                raise DataError(f"{path}: line {number}: {why}: {shown!r}; a line is {layout}")


def _wrong(fields: Sequence[str], types: Types, gaps: bool) -> str | None:
    if len(fields) != len(types):
        return f"{len(fields)} fields where {len(types)} belong"
    for field, (name, kind) in zip(fields, types.items(), strict=True):
        if not field.strip():
            if not gaps:
                return f"{name} is empty"
        elif kind == pl.Float64:
            with suppress(ValueError):
                if math.isfinite(float(field)):
                    continue
            return f"{name} is no number"
    return None


_USUAL = {
    "user": ("user_id", "userid", "user", "uid", "customer_id", "visitorid"),
    "item": ("item_id", "itemid", "item", "iid", "movie_id", "movieid", "product_id"),
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

_MOVIELENS_TYPES: Types = dict(zip(_USUAL, [pl.String] * 2 + [pl.Float64] * 2, strict=True))
_ATOMIC = ("token", "token_seq", "float", "float_seq")


@dataclass(frozen=True, eq=False)
class Raw:
    """Columns as a file has them: ``user``, ``item``, maybe ``rating`` and ``time``."""

    frame: pl.DataFrame
    first_line: int  # of the file, on which the first row stands; 0: rows are all there is
    limits: tuple[float, float] | None = None  # the ratings that the layout allows

    def where(self, row: int) -> str:
        """Where a row of the frame is, in words."""
        return f"line {row + self.first_line}" if self.first_line else f"row {row + 1}"


def read_raw(path: Path, kind: str, given: Mapping[str, str]) -> Raw:
    """Read a file of MovieLens, an atomic file of RecBole (``*.inter``), a csv or parquet file.

    ``given`` are the columns that were named, by role.
    """
    if kind in MOVIELENS:
        separator, skip, layout, limits = MOVIELENS[kind]
        frame = read_delimited(path, separator, _MOVIELENS_TYPES, skip=skip, layout=layout)
        return Raw(frame, skip + 1, limits)
    if kind == "recbole":
        return Raw(_named(path, atomic_frame(path), given), 2)
    form = format_of(path)
    if form == "svmlight":
        raise DataError(f"{path}: svmlight has no named columns; interactions need a user column")
    return Raw(_named(path, read_frame(path, form), given), 2 if form == "csv" else 0)


def atomic_frame(path: Path, *, gaps: bool = False) -> pl.DataFrame:
    """All fields of one of RecBole's files, floats as numbers and the rest as text."""
    with path.open(encoding="utf-8", errors="replace") as file:
        header = file.readline().rstrip("\r\n").split("\t")
    types: dict[str, type[pl.String] | type[pl.Float64]] = {}
    for field in header:
        name, _, kind = field.rpartition(":")
        if not name or kind not in _ATOMIC:
            raise DataError(
                f"{path}: line 1: the header must have fields such as 'user_id:token', of type "
                f"{', '.join(_ATOMIC)}, got {field!r}"
            )
        types[name] = pl.Float64 if kind == "float" else pl.String
    if len(types) < len(header):
        raise DataError(f"{path}: line 1: duplicate fields in the header: {', '.join(header)}")
    return read_delimited(path, "\t", types, skip=1, layout=", ".join(header), gaps=gaps)


def _named(path: Path, frame: pl.DataFrame, given: Mapping[str, str]) -> pl.DataFrame:
    """Return the columns by role; those that were not named, by their usual names."""
    names = frame.columns
    lower = {name.lower(): name for name in reversed(names)}
    wanted = dict(given)
    for role, usual in _USUAL.items():
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
