"""Read interactions in any of the layouts, check them, number their users and items."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.checks import require_one_of
from rankwise.data.errors import DataError
from rankwise.data.interactions._interactions import Interactions
from rankwise.data.interactions._layouts import MOVIELENS, Raw, read_raw

Codes: TypeAlias = NDArray[np.int64]
Duplicates = Literal["error", "last"]
FORMATS = ("auto", "ml-100k", "ml-1m", "ml-20m", "recbole", "columns")

_FILES = {"u.data": "ml-100k", "ratings.dat": "ml-1m", "ratings.csv": "ml-20m"}
_ML_20M = "userid,movieid,rating,timestamp"


def read_interactions(
    path: str | Path,
    *,
    format: str = "auto",
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    time: str | None = None,
    rating_range: tuple[float, float] | None = None,
    duplicates: Duplicates = "error",
) -> Interactions:
    """Read MovieLens, RecBole's atomic files, csv or parquet.

    Args:
        path: The file, or a folder with ``u.data``, ``ratings.dat``, ``ratings.csv`` or
            ``*.inter``.
        format: One of :data:`FORMATS`; ``"auto"`` goes by the name of the file.
        user, item, rating, time: Columns of a file that names them; None: the usual names, and
            rating and time are optional.
        rating_range: Smallest and largest rating, both included. MovieLens has its own.
        duplicates: Whether a pair of user and item that comes twice is an ``"error"``, or its
            ``"last"`` row counts (by time where there is one).

    Returns:
        The interactions, users and items numbered.

    Raises:
        DataError: If the file cannot be read; the message names file and line.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.data.interactions import read_interactions
        >>> file = Path(tempfile.mkdtemp()) / "clicks.csv"
        >>> _ = file.write_text("user,item\\nann,a\\nann,b\\nbob,b\\n")
        >>> clicks = read_interactions(file)
        >>> len(clicks), clicks.users, clicks.item.tolist()
        (3, ('ann', 'bob'), [0, 1, 1])
    """
    require_one_of("duplicates", duplicates, get_args(Duplicates))
    path, kind = _located(Path(path), format)
    roles = {"user": user, "item": item, "rating": rating, "time": time}
    given = {role: name for role, name in roles.items() if name is not None}
    if kind in MOVIELENS and given:
        role, name = next(iter(given.items()))
        raise DataError(f"{path}: MovieLens has no column names, got --{role}-column {name}")
    raw = read_raw(path, kind, given)
    value = _values(raw, rating_range or raw.limits)
    when = _numbers(raw, "time") if "time" in raw.frame.columns else None
    users, user_codes = _numbered(raw, "user")
    items, item_codes = _numbered(raw, "item")
    kept = _kept(raw, user_codes, item_codes, when, duplicates)
    rows = user_codes[kept], item_codes[kept], value[kept], None if when is None else when[kept]
    return Interactions(path, *rows, users, items, replaced=len(value) - len(rows[0]))


def _located(path: Path, format: str) -> tuple[Path, str]:
    require_one_of("format", format, FORMATS)
    if path.is_dir():
        inside = [p for p in sorted(path.iterdir()) if p.name in _FILES or p.suffix == ".inter"]
        if len(inside) != 1:
            what = ", ".join(p.name for p in inside) or "none of them"
            raise DataError(
                f"{path}: a folder must hold one of {', '.join(_FILES)} or *.inter, got {what}"
            )
        path = inside[0]
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    kind = "recbole" if path.suffix == ".inter" else _FILES.get(path.name, "columns")
    if kind == "ml-20m":  # a name that many files have
        with path.open(encoding="utf-8", errors="replace") as file:
            header = file.readline().strip().lower()
        kind = kind if header == _ML_20M else "columns"
    return path, kind if format == "auto" else format


def _values(raw: Raw, limits: tuple[float, float] | None) -> NDArray[np.float64]:
    if "rating" not in raw.frame.columns:
        if limits is not None:
            raise DataError(f"{raw.path}: has no rating column, so no range of ratings can be kept")
        return np.ones(raw.frame.height)
    values = _numbers(raw, "rating")
    low, high = limits or (-np.inf, np.inf)
    outside = np.flatnonzero((values < low) | (values > high))
    if len(outside):
        what = f"the rating {values[outside[0]]:g} is out of range, {low:g} to {high:g}"
        raise raw.error(int(outside[0]), f"{what}; {len(outside)} of {len(values)} ratings are")
    return values


def _numbers(raw: Raw, role: str) -> NDArray[np.float64]:
    column = raw.frame[role]
    if column.dtype.is_temporal():
        column = column.cast(pl.Datetime("us")).dt.epoch("us") / 1e6
    numbers = column.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        row = int(wrong[0])
        what = f"the {role} must be a number, got {column[row]!r}"
        raise raw.error(row, f"{what}; {len(wrong)} of {len(numbers)} are none")
    return numbers


def _numbered(raw: Raw, role: str) -> tuple[tuple[str, ...], Codes]:
    """The ids, whole numbers in their own order and text in that of text, and the codes."""
    column = raw.frame[role]
    if column.dtype.is_float() and bool((column == column.round()).all()):
        column = column.cast(pl.Int64)  # 7.0 is the id 7
    missing = column.is_null()
    if missing.any():
        what = f"the {role} is missing; {missing.sum()} of {len(column)} are"
        raise raw.error(missing.arg_max() or 0, what)
    if column.dtype == pl.String:
        whole = column.cast(pl.Int64, strict=False)
        # "07" and "7" are two ids, so only numbers as they are usually written count as such.
        if not whole.has_nulls() and bool((whole.cast(pl.String) == column).all()):
            column = whole
    ids = column.unique().sort()
    codes = column.rank("dense").to_numpy().astype(np.int64) - 1
    return tuple(ids.cast(pl.String).to_list()), codes


def _kept(
    raw: Raw, user: Codes, item: Codes, time: NDArray[np.float64] | None, duplicates: str
) -> Codes | slice:
    """The rows that stay, ascending."""
    row = np.arange(len(user))
    order = np.lexsort((row, row if time is None else time, item, user))
    again = (np.diff(user[order]) == 0) & (np.diff(item[order]) == 0)
    if not again.any():
        return slice(None)
    if duplicates == "last":
        return np.sort(order[np.append(~again, True)])
    places = np.flatnonzero(again)
    both = np.sort(np.stack([order[places], order[places + 1]]), axis=0)
    first, second = both[:, np.argmin(both[1])]
    user_id, item_id = (raw.frame[role][int(second)] for role in ("user", "item"))
    raise raw.error(
        int(second),
        f"the pair of user {user_id} and item {item_id} was already in {raw.where(int(first))}; "
        f"{int(again.sum())} of {len(user)} rows are such; the last one counts with "
        "--duplicates last",
    )
