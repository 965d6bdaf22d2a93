"""Read interactions in any of the published layouts, check them, number users and items."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.checks import require_one_of
from rankwise.data.errors import DataError, reads
from rankwise.data.files import format_of, read_frame
from rankwise.data.interactions._interactions import Interactions
from rankwise.data.interactions._layouts import (
    MOVIELENS,
    USUAL,
    Raw,
    adjacency,
    atomic_frame,
    named_columns,
    read_delimited,
)
from rankwise.errors import short_repr
from rankwise.limits import MAX_HEADER_BYTES

Codes: TypeAlias = NDArray[np.int64]
Duplicates = Literal["error", "last"]
FORMATS = ("auto", "ml-100k", "ml-1m", "ml-20m", "recbole", "adjacency", "columns")
"""Values of ``format`` in :func:`read_interactions`."""

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
    """Read MovieLens, RecBole's atomic files, LightGCN's adjacency lists, csv, tsv or parquet.

    Args:
        path: The file, or a folder with ``u.data``, ``ratings.dat``, ``ratings.csv`` or
            ``*.inter``.
        format: One of :data:`FORMATS`; ``"auto"`` goes by the name of the file. A ``.txt`` file
            whose first line is whole numbers, a user and their items, is ``"adjacency"``.
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
    require_one_of("format", format, FORMATS)
    roles = {"user": user, "item": item, "rating": rating, "time": time}
    given = {role: name for role, name in roles.items() if name is not None}
    return _interactions(Path(path), format, given, rating_range, duplicates)


@reads("interactions")
def _interactions(
    path: Path,
    format: str,
    given: Mapping[str, str],
    rating_range: tuple[float, float] | None,
    duplicates: Duplicates,
) -> Interactions:
    path, kind = _located(path, format)
    if kind in (*MOVIELENS, "adjacency"):
        for role, name in given.items():
            what = "MovieLens" if kind in MOVIELENS else kind
            raise DataError(f"{path}: {what} has no column names, got --{role}-column {name}")
    if kind in MOVIELENS:
        separator, skip, layout, limits = MOVIELENS[kind]
        frame = read_delimited(path, separator, list(USUAL), skip=skip, layout=layout)
        raw = Raw(path, frame, skip + 1, limits)
    elif kind == "adjacency":
        raw = adjacency(path)
    elif kind == "recbole":
        raw = Raw(path, named_columns(path, atomic_frame(path), given), 2)
    elif (form := format_of(path)) == "svmlight":
        raise DataError(f"{path}: svmlight has no named columns; interactions need a user column")
    else:
        raw = Raw(
            path, named_columns(path, read_frame(path, form), given), 2 if form == "csv" else 0
        )
    value = _values(raw, rating_range or raw.limits)
    when = _numbers(raw, "time") if "time" in raw.frame.columns else None
    users, user_codes = _numbered(raw, "user")
    items, item_codes = _numbered(raw, "item")
    kept = _kept(raw, user_codes, item_codes, when, duplicates)
    rows = user_codes[kept], item_codes[kept], value[kept], None if when is None else when[kept]
    return Interactions(path, *rows, users, items, replaced=len(value) - len(rows[0]))


def _located(path: Path, format: str) -> tuple[Path, str]:
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
    if kind == "ml-20m" or path.suffix == ".txt":  # names that many files have
        with path.open(encoding="utf-8", errors="replace") as file:
            first = file.readline(MAX_HEADER_BYTES).strip().lower()
        kind = kind if first == _ML_20M else "columns"
        kind = "adjacency" if first.replace(" ", "").isdigit() else kind
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
        what = f"the {role} must be a number, got {short_repr(column[row])}"
        raise raw.error(row, f"{what}; {len(wrong)} of {len(numbers)} are not numbers")
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
    if column.dtype == pl.Int64 and ids[-1] - ids[0] < 10 * len(column):
        place = np.zeros(ids[-1] - ids[0] + 1, dtype=np.int64)  # faster than to rank the column
        place[ids.to_numpy() - ids[0]] = np.arange(len(ids))
        codes = place[column.to_numpy() - ids[0]]
    else:
        codes = column.rank("dense").to_numpy().astype(np.int64) - 1
    return tuple(ids.cast(pl.String).to_list()), codes


def _kept(
    raw: Raw, user: Codes, item: Codes, time: NDArray[np.float64] | None, duplicates: str
) -> Codes | slice:
    """The rows that stay, ascending."""
    cells = user * (int(item.max(initial=0)) + 1) + item
    cells.sort()  # several times as fast as the sort of rows, which only repeated pairs need
    if not (cells[1:] == cells[:-1]).any():
        return slice(None)
    row = np.arange(len(user))
    order = np.lexsort((row, row if time is None else time, item, user))
    again = (np.diff(user[order]) == 0) & (np.diff(item[order]) == 0)
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
