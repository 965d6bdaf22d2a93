"""Fusion of score files: rows are matched by their ids, never by their place in the file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import numpy as np
import polars as pl

from rankwise.data import DataError
from rankwise.retrieval.fusion import Method, Normalize, fuse
from rankwise.tasks.compare.score_file import read_scores, typed

FUSED, COUNT = "score", "systems"


def fuse_files(
    paths: Sequence[Path],
    *,
    ids: Sequence[str],
    score: str = "score",
    group: str | None = None,
    keep: Sequence[str] = (),
    method: Method = "rrf",
    k: float = 60.0,
    normalize: Normalize = "min_max",
) -> pl.DataFrame:
    """Return the rows of all files with their fused scores, the highest first in every list.

    Args:
        paths: Tables with scores, one per system.
        ids: Columns that together identify an item (in its list).
        score: Column of the scores.
        group: Column of the list of a row; without one all rows are one list.
        keep: Columns to write as well, each from the first file that has the row.
        method, k, normalize: See :func:`rankwise.retrieval.fuse`.

    Returns:
        The list and ids, the kept columns, the fused score, and how many files have the row.
    """
    if len(paths) < 2:
        raise DataError(f"fusion needs the scores of at least two files, got {len(paths)}")
    key = [*([] if group is None else [group]), *ids]
    for name in (*key, *keep):
        if name in (FUSED, COUNT):
            raise DataError(f"{name!r} is the name of a column that is written; rename it first")
    named = [*key, score, *keep]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise DataError(f"the column {twice!r} is named twice; a column has one role")
    tables = [read_scores(path, key=key, score=score, keep=keep) for path in paths]
    for name in keep:
        if not any(name in table.columns for table in tables):
            raise DataError(f"--keep {name}: there is no such column in any of the files")
    columns = [[name for name in keep if name in table.columns] for table in tables]
    numbered = [
        table.rename({score: f"{score} {place}"} | {name: f"{name} {place}" for name in own})
        for place, (table, own) in enumerate(zip(tables, columns, strict=True))
    ]
    joined = reduce(lambda a, b: a.join(b, on=key, how="full", coalesce=True), numbered)
    systems = [
        joined[f"{score} {place}"].cast(pl.Float64).to_numpy() for place in range(len(paths))
    ]
    lists = None
    if group is not None:
        lists = np.unique(joined[group].to_numpy().astype(np.str_), return_inverse=True)[1]
    try:
        fused = fuse(systems, method=method, groups=lists, k=k, normalize=normalize)
    except ValueError as error:
        raise DataError(str(error)) from None
    kept = [
        pl.coalesce(f"{name} {place}" for place, own in enumerate(columns) if name in own).alias(
            name
        )
        for name in keep
    ]
    there = np.sum([~np.isnan(each) for each in systems], axis=0)
    words = joined.select(*key, *kept)
    plain = [typed(column) if column.dtype == pl.String else column for column in words]
    made = pl.DataFrame(plain).with_columns(
        pl.Series(FUSED, fused), pl.Series(COUNT, there.astype(np.int64))
    )
    # Ids make the order of tied rows one that does not depend on the files' order.
    by = [*([] if group is None else [group]), FUSED, *ids]
    return made.sort(by, descending=[name == FUSED for name in by])
