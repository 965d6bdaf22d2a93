"""The published layouts of interactions: MovieLens, RecBole's atomic files, named columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from rankwise.data.errors import DataError
from rankwise.data.files import format_of, read_frame, require_columns
from rankwise.data.interactions.delimited import Types, read_delimited

__all__ = ["Raw", "Roles", "atomic_frame", "columns", "movielens_1m", "movielens_20m",
           "movielens_100k", "recbole"]  # fmt: skip

_USERS = ("user_id", "userid", "user", "uid", "customer_id", "visitorid")
_ITEMS = ("item_id", "itemid", "item", "iid", "movie_id", "movieid", "product_id")
_RATINGS = ("rating", "ratings", "score", "stars", "value")
_TIMES = ("timestamp", "time", "ts", "date", "datetime", "unix_timestamp")

_MOVIELENS: Types = {
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


def movielens_100k(path: Path) -> Raw:
    """``u.data``: user, item, rating 1–5 and seconds, separated by tabs."""
    layout = "user, item, rating and time, separated by tabs"
    return Raw(read_delimited(path, "\t", _MOVIELENS, layout=layout), 1, (1, 5))


def movielens_1m(path: Path) -> Raw:
    """``ratings.dat``: the same, separated by ``::``."""
    layout = "user::item::rating::time"
    return Raw(read_delimited(path, "::", _MOVIELENS, layout=layout), 1, (1, 5))


def movielens_20m(path: Path) -> Raw:
    """``ratings.csv``: a header, and half stars from 0.5."""
    layout = "userId,movieId,rating,timestamp"
    return Raw(read_delimited(path, ",", _MOVIELENS, skip=1, layout=layout), 2, (0.5, 5))


def recbole(path: Path, roles: Roles) -> Raw:
    """An atomic file ``*.inter``: fields separated by tabs under a header ``name:type``."""
    frame = atomic_frame(path)
    return Raw(_named(path, frame, roles), 2)


def columns(path: Path, roles: Roles) -> Raw:
    """A csv or parquet file with named columns."""
    kind = format_of(path)
    if kind == "svmlight":
        raise DataError(f"{path}: svmlight has no named columns; interactions need a user column")
    return Raw(_named(path, read_frame(path, kind), roles), 2 if kind == "csv" else 0)


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
