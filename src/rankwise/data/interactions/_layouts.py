"""Published layouts of interactions: MovieLens, RecBole's atomic files, named columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from rankwise.data.errors import DataError
from rankwise.data.files import format_of, read_frame, require_columns

Types = Mapping[str, type[pl.String] | type[pl.Float64]]

_WIDE = 80  # characters of a line that a message shows


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
        for number, line in enumerate(file, start=1):
            if number <= skip:
                continue
            why = _wrong(line.rstrip("\r\n").split(separator), types, gaps)
            if why:
                shown = line.strip()[:_WIDE]
                raise DataError(f"{path}: line {number}: {why}: {shown!r}; a line is {layout}")


def _wrong(fields: Sequence[str], types: Types, gaps: bool) -> str:
    if len(fields) != len(types):
        return f"{len(fields)} fields where {len(types)} belong"
    for field, (name, kind) in zip(fields, types.items(), strict=True):
        if not field.strip():
            if gaps:
                continue
            return f"{name} is empty"
        if kind == pl.Float64 and not _is_number(field):
            return f"{name} is no number"
    return ""


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


_USERS = ("user_id", "userid", "user", "uid", "customer_id", "visitorid")
_ITEMS = ("item_id", "itemid", "item", "iid", "movie_id", "movieid", "product_id")
_RATINGS = ("rating", "ratings", "score", "stars", "value")
_TIMES = ("timestamp", "time", "ts", "date", "datetime", "unix_timestamp")

MOVIELENS: dict[str, tuple[str, int, str, tuple[float, float]]] = {
    "ml-100k": ("\t", 0, "user, item, rating and time, separated by tabs", (1, 5)),
    "ml-1m": ("::", 0, "user::item::rating::time", (1, 5)),
    "ml-20m": (",", 1, "userId,movieId,rating,timestamp", (0.5, 5)),
}
"""Separator, lines of the header, layout of a line and range of the ratings, by format."""

_MOVIELENS_TYPES: Types = {
    "user": pl.String,
    "item": pl.String,
    "value": pl.Float64,
    "time": pl.Float64,
}
_ATOMIC = ("token", "token_seq", "float", "float_seq")


@dataclass(frozen=True)
class Roles:
    """Which columns say what; None: the usual name, if there is such a column."""

    user: str | None = None
    item: str | None = None
    rating: str | None = None
    time: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """The columns that were named, by role."""
        return {role: name for role, name in vars(self).items() if name is not None}


@dataclass(frozen=True, eq=False)
class Raw:
    """Columns as a file has them: ``user``, ``item``, maybe ``value`` and ``time``."""

    frame: pl.DataFrame
    first_line: int  # of the file, on which the first row stands; 0: rows are all there is
    limits: tuple[float, float] | None = None  # the ratings that the layout allows

    def where(self, row: int) -> str:
        """Where a row of the frame is, in words."""
        return f"line {row + self.first_line}" if self.first_line else f"row {row + 1}"


def movielens(path: Path, kind: str) -> Raw:
    """Read one of the files of MovieLens: user, item, rating and seconds."""
    separator, skip, layout, limits = MOVIELENS[kind]
    frame = read_delimited(path, separator, _MOVIELENS_TYPES, skip=skip, layout=layout)
    return Raw(frame, skip + 1, limits)


def named_columns(path: Path, kind: str, roles: Roles) -> Raw:
    """Read an atomic file of RecBole (``*.inter``), or a csv or parquet file."""
    if kind == "recbole":
        return Raw(_named(path, atomic_frame(path), roles), 2)
    form = format_of(path)
    if form == "svmlight":
        raise DataError(f"{path}: svmlight has no named columns; interactions need a user column")
    return Raw(_named(path, read_frame(path, form), roles), 2 if form == "csv" else 0)


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


def _named(path: Path, frame: pl.DataFrame, roles: Roles) -> pl.DataFrame:
    for role, name in roles.given.items():
        require_columns(path, frame.columns, [name], role)
    user = roles.user or _usual(path, frame.columns, _USERS, "user")
    item = roles.item or _usual(path, frame.columns, _ITEMS, "item")
    rating = roles.rating or _found(frame.columns, _RATINGS)
    time = roles.time or _found(frame.columns, _TIMES)
    wanted = {"user": user, "item": item, "value": rating, "time": time}
    return frame.select(pl.col(name).alias(role) for role, name in wanted.items() if name)


def _usual(path: Path, names: Sequence[str], usual: Sequence[str], role: str) -> str:
    found = _found(names, usual)
    if found is None:
        shown = ", ".join(names[:30]) + (", …" if len(names) > 30 else "")
        raise DataError(
            f"{path}: there is no column with a usual name for the {role} ({usual[0]}); name it "
            f"with --{role}-column; the {len(names)} columns are: {shown}"
        )
    return found


def _found(names: Sequence[str], usual: Sequence[str]) -> str | None:
    lower = {name.lower(): name for name in reversed(names)}
    return next((lower[name] for name in usual if name in lower), None)
