"""Read a table from a file: what is a feature, what is the target."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data.errors import DataError
from rankwise.data.files import format_of, read_frame, read_svmlight
from rankwise.data.slips import slip_in
from rankwise.data.table import Features, Kind, Table
from rankwise.data.target import read_target, require_present

__all__ = [
    "as_features",
    "densely",
    "read_columns",
    "read_table",
    "require_columns",
    "require_finite",
]

QUERY = "qid"  # what svmlight calls the list of a row
_DENSE = 0.25  # share of entries from which a plain array is smaller and faster
_SHOWN = 30  # columns that a message lists


def read_table(
    path: str | Path,
    *,
    target: str | None,
    group: str | None = None,
    positive: str | None = None,
    time: str | None = None,
    score: str | None = None,
    drop: Collection[str] = (),
    graded: bool = False,
) -> Table:
    """Read csv (also .tsv, .gz), parquet or svmlight/LETOR; :class:`DataError` for what is wrong.

    target
        The column to be found; svmlight has only one, so None will do there.
    positive
        Which of its values is the positive class. Two numbers need none (the greater), nor do
        true/false and yes/no; with ``graded`` the target may hold relevances instead.
    group
        Which list a row belongs to, such as a query or a user; ``qid`` in svmlight.
    time, score
        Columns by which rows are ordered, and of somebody's scores. Neither they nor the group
        nor the columns to ``drop`` are features; nor is text that is different in every row.
    """
    path = Path(path)
    kind = format_of(path)
    if kind == "svmlight":
        named = {"time": time, "score": score, **{f"drop {name}": name for name in drop}}
        for option, name in named.items():
            if name is not None:
                raise DataError(f"{path}: svmlight has no named columns, got --{option} {name}")
        return _svmlight(path, target, group, positive, graded)
    if target is None:
        raise DataError(f"{path}: a table of columns needs --target, the column to be found")
    frame = read_frame(path, kind)
    roles = {"target": target, "group": group, "time": time, "score": score}
    for role, name in roles.items():
        if name is not None:
            require_columns(path, frame.columns, [name], role)
    require_columns(path, frame.columns, list(drop), "drop")
    for role, name in roles.items():
        if name in drop:
            raise DataError(
                f"{path}: --drop {name} is the {role} column, which is no feature anyway"
            )
    labels, found = read_target(path, frame[target], positive, graded)
    used = {name for name in roles.values() if name is not None} | set(drop)
    features, left_out = as_features(frame.drop(used))
    words = [each for each in frame.drop(used) if each.dtype == pl.String]
    require_finite(path, features)
    return Table(
        path=path,
        features=features,
        names=tuple(features.columns),
        kinds=tuple(_kind(dtype) for dtype in features.dtypes),
        target=labels,
        positive=found,
        groups=None if group is None else _codes(path, frame[group]),
        time=None if time is None else _order(path, frame[time]),
        score=None if score is None else _scores(path, frame[score]),
        left_out=left_out,
        slips=tuple(slip for each in words if (slip := slip_in(each)) is not None),
    )


def read_columns(path: str | Path, names: Sequence[str]) -> Features:
    """Everything in a file as features, for a model that knows their ``names``.

    Svmlight knows features by number: they are those of the names ``f1``, ``f2``, ….
    """
    path = Path(path)
    kind = format_of(path)
    if kind != "svmlight":
        found = as_features(read_frame(path, kind), every=True)[0]
        require_finite(path, found.select(name for name in names if name in found.columns))
        return found
    numbered = [int(name[1:]) for name in names if re.fullmatch(r"f\d+", name)]
    if len(numbered) < len(names):
        raise DataError(
            f"{path}: svmlight has no named columns, the model wants such as {names[0]!r}"
        )
    entries = read_svmlight(path).features
    most = max(numbered) + 1
    if entries.shape[1] > most:
        raise DataError(
            f"{path}: has feature {entries.shape[1] - 1}, the model's last is {names[-1]}"
        )
    parts = (entries.data, entries.indices, entries.indptr)
    whole = sparse.csr_array(parts, (entries.shape[0], most))
    return densely(whole[:, numbered])


def require_columns(path: Path, columns: Sequence[str], wanted: Sequence[str], role: str) -> None:
    """Raise where a column is not in the file, with the nearest name and those there are."""
    missing = [name for name in wanted if name not in columns]
    if not missing:
        return
    near = get_close_matches(missing[0], columns, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    shown = ", ".join(columns[:_SHOWN]) + (", …" if len(columns) > _SHOWN else "")
    raise DataError(
        f"{path}: there is no {role} column {missing[0]!r}; {hint}"
        f"the {len(columns)} columns are: {shown}"
    )


def as_features(
    frame: pl.DataFrame, *, every: bool = False
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Numbers as float64, dates as days, words as text; without text that names every row.

    ``every``: also that, since few rows may have no word twice.
    """
    columns, left_out = [], []
    for column in frame:
        if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
            columns.append(column.cast(pl.Float64).fill_null(float("nan")))
        elif column.dtype.is_temporal():
            columns.append(_days(column).fill_null(float("nan")))
        elif _is_no_value(column) or (not every and _names_rows(column)):
            left_out.append(column.name)
        else:
            columns.append(column.cast(pl.String))
    return pl.DataFrame(columns), tuple(left_out)


def require_finite(path: Path, frame: pl.DataFrame) -> None:
    """Raise where a number is infinite: no model can learn from it, or score it."""
    for column in frame:
        if column.dtype.is_numeric() and column.is_infinite().any():
            row = column.is_infinite().arg_max() or 0
            raise DataError(
                f"{path}: the column {column.name!r} holds {column[row]} in row {row + 1}; "
                "write a number there, or nothing"
            )


def densely(features: sparse.csr_array) -> Features:
    """As a plain array where few entries are zero."""
    size = features.shape[0] * features.shape[1]
    return features.toarray() if features.nnz >= _DENSE * size else features


def _svmlight(
    path: Path, target: str | None, group: str | None, positive: str | None, graded: bool
) -> Table:
    read = read_svmlight(path)
    if group not in (None, QUERY):
        raise DataError(f"{path}: svmlight knows lists by {QUERY} only, got --group {group}")
    if group == QUERY and read.queries is None:
        raise DataError(f"{path}: --group {QUERY} was given, but no line has {QUERY}:")
    labels, found = read_target(path, pl.Series(target or "target", read.target), positive, graded)
    first = 0 if read.features[:, [0]].nnz else 1
    features = read.features[:, first:]
    queries = None if group is None or read.queries is None else read.queries
    return Table(
        path=path,
        features=densely(features),
        names=tuple(f"f{first + place}" for place in range(features.shape[1])),
        kinds=("numeric",) * features.shape[1],
        target=labels,
        positive=found,
        groups=None if queries is None else np.unique(queries, return_inverse=True)[1],
    )


def _kind(dtype: pl.DataType) -> Kind:
    return "numeric" if dtype.is_numeric() else "categorical"


def _codes(path: Path, column: pl.Series) -> NDArray[np.int64]:
    require_present(path, "group", column)
    return (column.rank("dense").to_numpy() - 1).astype(np.int64)


def _order(path: Path, column: pl.Series) -> NDArray[np.float64]:
    """Numbers in the order of the column; text is ordered as such, which ISO dates allow."""
    require_present(path, "time", column)
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).to_numpy()
    return column.rank("dense").cast(pl.Float64).to_numpy()


def _scores(path: Path, column: pl.Series) -> NDArray[np.float64]:
    if not column.dtype.is_numeric():
        wrong = column.cast(pl.Float64, strict=False).is_null()
        first = (wrong.arg_max() or 0) + 1
        raise DataError(
            f"{path}: the score column {column.name!r} must hold numbers, "
            f"got {column[first - 1]!r} in row {first}"
        )
    require_present(path, "score", column)
    return column.cast(pl.Float64).to_numpy()


def _is_no_value(column: pl.Series) -> bool:
    return column.dtype.is_nested() or column.dtype == pl.Binary


def _names_rows(column: pl.Series) -> bool:
    """Whether it tells rows apart and nothing else."""
    return len(column) > 2 and column.n_unique() == len(column)


def _days(column: pl.Series) -> pl.Series:
    """Dates and times as days since 1970, spans and times of day as days."""
    if column.dtype in (pl.Date, pl.Datetime):
        return column.cast(pl.Datetime("us")).dt.epoch("us") / 86_400e6
    span = column.cast(pl.Duration("us")) if column.dtype != pl.Time else column.cast(pl.Int64)
    unit = 86_400e9 if column.dtype == pl.Time else 86_400e6
    return span.cast(pl.Int64) / unit
