"""Read a parquet file as a table whose features stay on disk."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from rankwise._parquet import require_parquet
from rankwise.data._columns import Wishes, is_named_id
from rankwise.data._frame_table import table_of
from rankwise.data.disk import DiskFeatures
from rankwise.data.errors import DataError, parsing
from rankwise.data.files import format_of, require_columns
from rankwise.data.reading import ColumnInfo, Reading, Rule
from rankwise.data.table import Table
from rankwise.files import require_unchanged_table


def read_disk_table(
    path: Path,
    *,
    target: str | None,
    group: str | None = None,
    positive: str | None = None,
    time: str | None = None,
    weight: str | None = None,
    drop: Collection[str] = (),
    use: Collection[str] = (),
    text: Collection[str] = (),
    date_format: str | None = None,
    graded: bool = False,
) -> Table:
    """Read a parquet file as :func:`rankwise.data.read_table`, but leave its features on disk.

    Raises:
        DataError: The file is not of parquet, or has columns that are not numbers.
    """
    if format_of(path) != "parquet":
        raise DataError(f"{path}: --out-of-core reads parquet, got another format; write parquet")
    if text:
        raise DataError(f"{path}: --text {next(iter(text))} cannot be combined with --out-of-core")
    if target is None:
        raise DataError(f"{path}: a table of columns needs --target, the column to predict")
    require_unchanged_table(path)
    with parsing(path, "parquet"):
        require_parquet(path, DataError, in_memory=False)
        scan = pl.scan_parquet(path)
        schema = scan.collect_schema()
    given = {"target": target, "group": group, "time": time, "weight": weight}
    roles = {role: name for role, name in given.items() if name is not None}
    for role, name in [*roles.items(), *(("drop", n) for n in drop), *(("use", n) for n in use)]:
        require_columns(path, schema.names(), [name], role)
    used = {*roles.values(), *drop}
    wishes = Wishes((), (), date_format, (), positive, graded, roles)
    with parsing(path, "parquet"):
        held = scan.select(list(dict.fromkeys(roles.values()))).collect()
    table = table_of(path, held, wishes)
    infos = {column.name: column for column in table.columns}
    for name in schema.names():
        if name not in used:
            infos[name] = _described(path, scan, name, schema[name], wanted=name in use)
        elif name not in infos:
            infos[name] = ColumnInfo(name, "dropped", 0, 0, remark="--drop")
    columns = tuple(infos[name] for name in schema.names())
    names = tuple(c.name for c in columns if c.name not in used and c.left_out is None)
    others = tuple(name for name in schema.names() if name not in names)
    rows = np.arange(len(table)) if table.file_rows is None else table.file_rows
    rules = tuple(Rule(name, "numeric") for name in names)
    return replace(
        table,
        features=DiskFeatures(path, names, others, rows),
        names=names,
        kinds=Reading(rules).kinds,
        formats=rules,
        columns=columns,
    )


def _described(
    path: Path, scan: pl.LazyFrame, name: str, kind: pl.DataType, *, wanted: bool
) -> ColumnInfo:
    """Describe a column of features, of which only some numbers are computed."""
    if not kind.is_numeric():
        raise DataError(
            f"{path}: --out-of-core takes columns of numbers, got {name!r} of type {kind}; leave "
            f"it out with --drop {name}, write it as numbers, or compare without --out-of-core"
        )
    column = pl.col(name)
    infinite = column.is_infinite().any() if kind.is_float() else pl.lit(False)
    with parsing(path, "parquet"):
        numbers = scan.select(
            low=column.min(),
            high=column.max(),
            missing=column.null_count(),
            levels=column.approx_n_unique(),
            infinite=infinite,
        ).collect()
    low, high, missing, levels, is_infinite = numbers.row(0)
    if is_infinite:
        raise DataError(f"{path}: the column {name!r} holds infinite values; write numbers there")
    if low is None:
        return ColumnInfo(name, "empty", 0, missing, left_out="has no value")
    if low == high and not missing:
        return ColumnInfo(name, "constant", 1, 0, left_out="has the same value in every row")
    if is_named_id(name) and not wanted:
        why = f"its name looks like an id; --use {name} keeps it"
        return ColumnInfo(name, "id", levels, missing, left_out=why)
    return ColumnInfo(name, "number", levels, missing)
