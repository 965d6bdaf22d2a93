"""A table from named columns: roles, features, and columns left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data._columns import Decided, Wishes, as_date, decide, described
from rankwise.data._roles import (
    has_value,
    read_groups,
    read_scores,
    read_target,
    read_time,
    read_weights,
)
from rankwise.data.errors import DataError
from rankwise.data.files import require_columns, require_finite
from rankwise.data.reading import Reading, Rule
from rankwise.data.table import ColumnInfo, Table

Roles = Mapping[str, str | None]


def table_of(
    path: Path,
    frame: pl.DataFrame,
    roles: Roles,
    drop: Collection[str],
    wishes: Wishes,
    *,
    positive: str | None,
    graded: bool,
) -> Table:
    """Make the table of a frame, without the rows that have no target or no weight.

    ``roles`` are the columns of target, group, time, score and weight, the last four of which may
    be None.
    """
    _require_roles(path, frame, roles, {"drop": drop, "use": wishes.use, "text": wishes.text})
    target = roles["target"] or ""
    there = has_value(frame[target]).to_numpy()
    rows, without = np.flatnonzero(there), int((~there).sum())
    if not len(rows):
        raise DataError(
            f"{path}: the target {target!r} has no value in any of {without} rows; "
            "name another column with --target"
        )
    try:
        return _of_rows(path, frame, rows, roles, drop, wishes, positive, graded)
    except DataError as error:
        if not without or not re.search(r"\brow \d", str(error)):
            raise
        raise DataError(
            f"{error} (rows are counted without the {without} that have no target)"
        ) from None


def _of_rows(  # noqa: PLR0917
    path: Path,
    whole: pl.DataFrame,
    rows: NDArray[np.int64],
    roles: Roles,
    drop: Collection[str],
    wishes: Wishes,
    positive: str | None,
    graded: bool,
) -> Table:
    frame, without = whole[rows], len(whole) - len(rows)
    target, group, time, score, weight = (
        roles[role] for role in ("target", "group", "time", "score", "weight")
    )
    weights = None if weight is None else read_weights(path, frame[weight])
    weightless = 0
    if weights is not None and not weights.all():
        weightless = int((weights == 0).sum())
        rows = rows[weights > 0]
        frame, weights = whole[rows], weights[weights > 0]
    labels, found = read_target(path, frame[target or ""], positive, graded)
    order, dated, time_format = None, False, None
    if time is not None:
        order, dated, time_format = read_time(path, frame[time], wishes.date_format)
    used = {name for name in roles.values() if name is not None} | set(drop)
    decided = {column.name: decide(column, wishes) for column in frame if column.name not in used}
    rules = tuple(each.rule for each in decided.values() if each.rule is not None)
    _require_format_used(path, wishes.date_format, time_format, rules)
    features = Reading(rules).read(frame)
    require_finite(path, features)
    return Table(
        path=path,
        features=features,
        names=tuple(features.columns),
        kinds=Reading(rules).kinds,
        target=labels,
        positive=found,
        groups=None if group is None else read_groups(path, frame[group]),
        time=order,
        dated=dated,
        score=None if score is None else read_scores(path, frame[score]),
        weight=weights,
        formats=rules,
        columns=_infos(frame, roles, drop, decided, time_format),
        warnings=tuple(each.warning for each in decided.values() if each.warning is not None),
        file_rows=rows if len(rows) < len(whole) else None,
        without_target=without,
        without_weight=weightless,
    )


def _require_roles(
    path: Path, frame: pl.DataFrame, roles: Roles, wanted: Mapping[str, Collection[str]]
) -> None:
    """Raise where a requested column is not in the file, or was requested twice."""
    for role, name in roles.items():
        if name is not None:
            require_columns(path, frame.columns, [name], role)
    for option, names in wanted.items():
        require_columns(path, frame.columns, list(names), option)
        for role, name in roles.items():
            if name in names:
                raise DataError(
                    f"{path}: --{option} {name} is the {role} column, which is not a feature anyway"
                    if option == "drop"
                    else f"{path}: --{option} {name} is the {role} column and cannot be a feature"
                )
    for option in ("use", "text"):
        twice = sorted(set(wanted["drop"]) & set(wanted[option]))
        if twice:
            raise DataError(f"{path}: --{option} {twice[0]} is in --drop as well; take one of them")
    for name in wanted["text"]:
        if frame[name].dtype not in (pl.String, pl.Categorical, pl.Enum):
            raise DataError(
                f"{path}: --text {name} must be a column of words, got values of type "
                f"{frame[name].dtype}"
            )


def _require_format_used(
    path: Path, date_format: str | None, time_format: str | None, rules: Sequence[Rule]
) -> None:
    used = {time_format, *(rule.format for rule in rules)}
    if date_format is not None and date_format not in used:
        raise DataError(
            f"{path}: --date-format {date_format} reads no column; write it with strftime's "
            "letters as the dates are written, such as %d/%m/%Y for 25/01/2023"
        )


def _infos(
    frame: pl.DataFrame,
    roles: Roles,
    drop: Collection[str],
    decided: Mapping[str, Decided],
    time_format: str | None,
) -> tuple[ColumnInfo, ...]:
    """Describe all columns of the file in its order."""
    named = {name: role for role, name in roles.items() if name is not None}
    found = []
    for column in frame:
        name = column.name
        if name in decided:
            found.append(decided[name].info)
        elif name in named:
            remark = as_date(time_format) if named[name] == "time" and time_format else None
            found.append(described(column, named[name], remark))
        else:
            found.append(described(column, "dropped", "--drop"))
    return tuple(found)
