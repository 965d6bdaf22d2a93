"""Make a table of a frame whose columns have roles."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data import _roles
from rankwise.data._columns import Wishes, as_date, decide, described
from rankwise.data.errors import DataError
from rankwise.data.files import require_columns, require_finite
from rankwise.data.reading import Reading, has_value
from rankwise.data.table import Table


def table_of(path: Path, frame: pl.DataFrame, wishes: Wishes) -> Table:
    """Make the table of a frame, without the rows that have no target or no weight."""
    _require_roles(path, frame, wishes)
    target = wishes.roles["target"]
    there = has_value(frame[target]).to_numpy()
    rows, without = np.flatnonzero(there), int((~there).sum())
    if not len(rows):
        raise DataError(
            f"{path}: the target {target!r} has no value in any of {without} rows; "
            "name another column with --target"
        )
    try:
        return _of_rows(path, frame, rows, wishes)
    except DataError as error:
        if not without or not re.search(r"\brow \d", str(error)):
            raise
        raise DataError(
            f"{error} (rows are counted without the {without} that have no target)"
        ) from None


def _of_rows(path: Path, whole: pl.DataFrame, rows: NDArray[np.int64], wishes: Wishes) -> Table:
    frame, without, roles = whole[rows], len(whole) - len(rows), wishes.roles

    def of(role: str, read: Callable[[pl.Series], _roles.Read]) -> _roles.Read | None:
        return _roles.read_role(path, role, frame[roles[role]], read) if role in roles else None

    weights = of("weight", _roles.read_weights)
    if weights is not None and not weights.all():
        rows = rows[weights > 0]
        frame, weights = whole[rows], weights[weights > 0]
    labels, positive, classes = _roles.read_labels(
        path,
        frame[roles["target"]],
        wishes.positive,
        graded=wishes.graded,
        several=wishes.several,
    )
    when = partial(_roles.read_time, date_format=wishes.date_format)
    order, dated, time_format = of("time", when) or (None, False, None)
    used = {*roles.values(), *wishes.drop}
    decided = {column.name: decide(column, wishes) for column in frame if column.name not in used}
    rules = tuple(each.rule for each in decided.values() if each.rule is not None)
    if wishes.date_format not in (None, time_format, *(rule.format for rule in rules)):
        raise DataError(
            f"{path}: --date-format {wishes.date_format} reads no column; write it with strftime's "
            "letters as the dates are written, such as %d/%m/%Y for 25/01/2023"
        )
    features = Reading(rules).read(frame)
    require_finite(path, features)
    named: dict[str, tuple[str, str | None]] = {name: (role, None) for role, name in roles.items()}
    if time_format:
        named[roles["time"]] = ("time", as_date(time_format))
    columns = [
        decided[column.name].info
        if column.name in decided
        else described(column, *named.get(column.name, ("dropped", "--drop")))
        for column in frame
    ]
    return Table(
        path=path,
        features=features,
        names=tuple(features.columns),
        kinds=Reading(rules).kinds,
        target=labels,
        positive=positive,
        groups=of("group", _roles.read_groups),
        time=order,
        dated=dated,
        score=of("score", _roles.read_scores),
        weight=weights,
        formats=rules,
        columns=tuple(columns),
        warnings=tuple(each.warning for each in decided.values() if each.warning is not None),
        file_rows=rows if len(rows) < len(whole) else None,
        without_target=without,
        without_weight=len(whole) - without - len(rows),
        classes=classes,
    )


def _require_roles(path: Path, frame: pl.DataFrame, wishes: Wishes) -> None:
    """Raise where a requested column is not in the file, or was requested twice."""
    wanted = {"drop": wishes.drop, "use": wishes.use, "text": wishes.text}
    for role, name in wishes.roles.items():
        require_columns(path, frame.columns, [name], role)
    for option, names in wanted.items():
        require_columns(path, frame.columns, list(names), option)
        for role, name in wishes.roles.items():
            if name in names:
                drop = option == "drop"
                why = ", which is not a feature anyway" if drop else " and cannot be a feature"
                raise DataError(f"{path}: --{option} {name} is the {role} column{why}")
        if option != "drop" and (twice := sorted({*names} & {*wishes.drop})):
            raise DataError(f"{path}: --{option} {twice[0]} is in --drop as well; take one of them")
    for name in wishes.text:
        if frame[name].dtype not in (pl.String, pl.Categorical, pl.Enum):
            raise DataError(
                f"{path}: --text {name} must be a column of words, got values of type "
                f"{frame[name].dtype}"
            )
