"""Rows of a parquet file that does not fit into memory, as a ranker learns from them.

The file is read twice. A column at a time shows what has to be known of all rows: medians,
categories, the parts of dates that vary. Then the rows, a batch at a time, are prepared and written
as 32-bit numbers into a temporary file, from which every training reads blocks or single rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from rankwise._parquet import require_parquet
from rankwise.boosting.disk import DiskMatrix, parquet_batches
from rankwise.errors import foreign_errors
from rankwise.estimators._inputs import (
    read_features,
    read_groups,
    read_target,
    read_text,
    read_weight,
)
from rankwise.estimators.data import Matrix, Part, Vector
from rankwise.estimators.preparation import Column, Preparation, column_of, learn_column
from rankwise.extras import require

if TYPE_CHECKING:
    import polars as pl

    from rankwise.estimators.base import Ranker

_VALUES = 1 << 22  # values of a batch, in double precision while they are prepared
_ROWS = 1 << 18  # rows of a batch at most: those of polars' row groups


@dataclass(frozen=True, eq=False)
class ParquetRows:
    """The rows of a file, or of the files of a folder, and the columns that are not features.

    Target, weights and lists are columns of the file, or arrays with a value for each of the rows.
    """

    path: Path
    target: str | ArrayLike
    weight: str | ArrayLike | None = None
    groups: str | ArrayLike | None = None
    drop: Collection[str] = ()
    rows: NDArray[np.int64] | None = None  # ascending; None: all

    def scan(self) -> pl.LazyFrame:
        """Return the columns, of which nothing is read yet."""
        require("rankwise.estimators", "polars")
        import polars as pl  # noqa: PLC0415  (only files need it)

        files = sorted(self.path.glob("*.parquet")) if self.path.is_dir() else [self.path]
        if not files or not self.path.exists():
            what = "has no file *.parquet" if self.path.is_dir() else "does not exist"
            raise ValueError(
                f"path must be a parquet file or a folder of them, got {str(self.path)!r}, which "
                f"{what}"
            )
        for file in files:
            require_parquet(file, in_memory=False)
        with foreign_errors(f"{self.path} cannot be read as parquet"):
            scan = pl.scan_parquet(files)
            names = scan.collect_schema().names()
        if isinstance(self.drop, str):
            raise ValueError(f"drop must be a list of columns, got {self.drop!r}")
        for role, name in [*self._roles.items(), *(("drop", name) for name in self.drop)]:
            if name not in names:
                raise ValueError(
                    f"{role} must be a column of {self.path}, got {name!r}; the columns are "
                    f"{names[:20]}"
                )
        return scan

    @property
    def _roles(self) -> dict[str, str]:
        given = {"target": self.target, "weight": self.weight, "groups": self.groups}
        return {role: name for role, name in given.items() if isinstance(name, str)}

    def _picked(self, scan: pl.LazyFrame, names: list[str]) -> pl.DataFrame:
        """Return some columns of the rows, which are then in memory."""
        frame = scan.select(names).collect()
        return frame if self.rows is None or not names else frame[self.rows]

    def _count(self, scan: pl.LazyFrame) -> int:
        """Return the number of rows; raise where one of them is not in the file."""
        import polars as pl  # noqa: PLC0415

        height = int(scan.select(pl.len()).collect().item())
        if self.rows is None:
            return height
        rows = self.rows
        if rows.ndim != 1 or (np.diff(rows) <= 0).any() or (len(rows) and not rows[0] >= 0):
            raise ValueError("rows must be numbers of rows, ascending and none of them twice")
        if len(rows) and rows[-1] >= height:
            raise ValueError(
                f"rows must be numbers from 0 to {height - 1}, the rows of {self.path}, got "
                f"{rows[-1]}"
            )
        return len(rows)

    def read(self, ranker: Ranker, folder: Path) -> tuple[NDArray[np.generic], Part]:
        """Return the classes and the rows, whose features are in ``folder``; learn about them."""
        scan = self.scan()
        without = {*self._roles.values(), *self.drop}
        names = [name for name in scan.collect_schema().names() if name not in without]
        if not names:
            raise ValueError(f"{self.path} has no column of features besides {sorted(without)}")
        count = self._count(scan)
        if not count:
            raise ValueError(f"{self.path} has {len(names)} columns of features and no rows")
        known = self._picked(scan, sorted(set(self._roles.values())))
        weight, groups = (
            known[given].to_numpy() if isinstance(given, str) else given
            for given in (self.weight, self.groups)
        )
        lists = read_groups(groups, count)
        graded, several = ranker._kinds_of_target(grouped=lists is not None)
        if isinstance(self.target, str):
            column = known[self.target]
            classes, target = _target(column, self.path, graded=graded, several=several)
        else:
            classes, target = read_target(self.target, graded=graded, several=several)
        if len(target) != count:
            raise ValueError(
                f"target must have a value for each of {count} rows, got {len(target)}"
            )
        mass = read_weight(weight, target)
        validate_data(ranker, scan.select(names).head(1).collect(), skip_check_array=True)
        learn = partial(
            learn_column,
            takes_missing=ranker.takes_missing,
            takes_categories=ranker.takes_categories,
            text=(text := read_text(ranker, names)),
        )
        columns = (self._column(scan, name, mass, counted=name not in text) for name in names)
        ranker.preparation_ = Preparation(tuple(learn(*each) for each in columns), tuple(names))
        width = len(ranker.preparation_.names)
        batches = self._batches(ranker, scan.select(names))
        matrix = DiskMatrix.write(folder / "rows", width, batches)
        return classes, Part(matrix, target, mass, lists, len(classes))

    def _column(
        self, scan: pl.LazyFrame, name: str, weight: Vector | None, *, counted: bool
    ) -> tuple[Column, Vector | None]:
        """Return values of a column with their weights; words that are ``counted`` once each."""
        import polars as pl  # noqa: PLC0415

        frame = self._picked(scan, [name])
        if weight is not None:
            frame = frame.filter(pl.Series(weight > 0))
            weight = weight[weight > 0]
        if counted and frame[name].dtype in (pl.String, pl.Categorical, pl.Enum):
            mass = pl.Series("", np.ones(frame.height) if weight is None else weight)
            counts = frame.with_columns(mass.alias("")).group_by(name).agg(pl.col("").sum())
            return column_of(counts[name]), counts[""].to_numpy()
        return column_of(frame[name]), weight

    def _batches(self, ranker: Ranker, scan: pl.LazyFrame) -> Iterator[Matrix]:
        """Yield the prepared rows."""
        width = max(len(ranker.preparation_.names), len(ranker.preparation_.inputs))
        step = min(_ROWS, max(1, _VALUES // width))
        for start, frame in parquet_batches(scan, self.rows, step):
            try:
                yield read_features(ranker, frame)
            except ValueError as error:
                rows = f"rows {start + 1} to {start + frame.height}"
                raise ValueError(f"{self.path}, {rows}: {error}") from error


def _target(
    column: Any, path: Path, *, graded: bool, several: bool
) -> tuple[NDArray[np.generic], Vector]:
    """Return classes and targets as :func:`read_target`, of which only the values are read."""
    if column.null_count():
        raise ValueError(
            f"target {column.name!r} of {path} has no value in {column.null_count()} rows; write "
            "the file without these rows"
        )
    values = column.unique().to_numpy()
    if values.dtype == object:
        values = values.astype(str)
    classes, found = read_target(values, graded=graded, several=several)
    if graded and len(values) > 2:
        return classes, column.to_numpy().astype(np.float64)
    if len(classes) > 2:
        numbers = dict(zip(values.tolist(), found.tolist(), strict=True))
        return classes, column.replace_strict(numbers).cast(float).to_numpy()
    positive = values[found > 0][0]
    return classes, (column == positive.item()).to_numpy().astype(np.float64)
