"""Read a table from a file: what is a feature, what is the target."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import numpy as np
import polars as pl
from scipy import sparse

from rankwise.data.checks import require_finite
from rankwise.data.columns import Wishes
from rankwise.data.errors import DataError
from rankwise.data.files import format_of, read_frame, read_svmlight
from rankwise.data.frames import table_of
from rankwise.data.reading import Reading
from rankwise.data.table import Features, Table
from rankwise.data.target import read_target

__all__ = ["densely", "read_columns", "read_table"]

QUERY = "qid"  # what svmlight calls the list of a row
_DENSE = 0.25  # share of entries from which a plain array is smaller and faster


def read_table(
    path: str | Path,
    *,
    target: str | None,
    group: str | None = None,
    positive: str | None = None,
    time: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    drop: Collection[str] = (),
    use: Collection[str] = (),
    text: Collection[str] = (),
    date_format: str | None = None,
    graded: bool = False,
) -> Table:
    """Read csv (also .tsv, .gz), parquet or svmlight/LETOR; :class:`DataError` for what is wrong.

    Rows without a target, or of weight 0, are left out and counted. Numbers may have thousands
    separators, currency and percent signs; dates are read by explicit formats. Ids, constants,
    words that are different in almost every row and free text are no features; ``Table.columns``
    says what every column was taken for and why it was left out.

    target
        The column to be found; svmlight has only one, so None will do there.
    positive
        Which of its values is the positive class. Two numbers need none (the greater), nor do
        true/false and yes/no; with ``graded`` the target may hold relevances instead.
    group
        Which list a row belongs to, such as a query or a user; ``qid`` in svmlight.
    time, score, weight
        Columns by which rows are ordered, of somebody's scores, and of how much a row counts.
        Neither they nor the group nor the columns to ``drop`` are features.
    use
        Columns that are features although they look like ids, constants or names.
    text
        Columns of free text to learn from.
    date_format
        The strftime format of dates that cannot be told apart, such as ``%d/%m/%Y``.
    """
    path = Path(path)
    kind = format_of(path)
    roles = {"target": target, "group": group, "time": time, "score": score, "weight": weight}
    if kind == "svmlight":
        named = {role: name for role, name in roles.items() if role not in ("target", "group")}
        named["date-format"] = date_format
        wanted = {"drop": drop, "use": use, "text": text}
        named |= {f"{option} {name}": name for option, names in wanted.items() for name in names}
        for option, name in named.items():
            if name is not None:
                raise DataError(f"{path}: svmlight has no named columns, got --{option} {name}")
        return _svmlight(path, target, group, positive, graded)
    if target is None:
        raise DataError(f"{path}: a table of columns needs --target, the column to be found")
    return table_of(
        path,
        read_frame(path, kind, dates=False),
        roles,
        drop,
        Wishes(use, text, date_format),
        positive=positive,
        graded=graded,
    )


def read_columns(path: str | Path, reading: Reading) -> tuple[Features, tuple[str, ...]]:
    """Read the features of a model from a file as they were read in training.

    Columns are found by name, in any order. A value that cannot be read is missing, and the
    remarks that come with the features count these. Svmlight knows features by number: they are
    those of the names ``f1``, ``f2``, ….
    """
    path = Path(path)
    kind, names = format_of(path), reading.names
    if kind != "svmlight":
        frame = read_frame(path, kind, dates=False, as_text=True)
        missing = [name for name in names if name not in frame.columns]
        if missing:
            shown = ", ".join(map(repr, missing[:10])) + (", …" if len(missing) > 10 else "")
            raise DataError(
                f"{path}: {len(missing)} of the {len(names)} columns of the model are missing: "
                f"{shown}"
            )
        found = reading.read(frame)
        require_finite(path, found)
        return found, reading.remarks(frame)
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
    return densely(whole[:, numbered]), ()


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
