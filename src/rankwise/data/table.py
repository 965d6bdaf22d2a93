"""A table as the estimators take it: features beside a target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data.columns import ColumnInfo
from rankwise.data.reading import Kind, Reading, Rule

__all__ = ["Features", "Table", "take"]

Features: TypeAlias = pl.DataFrame | NDArray[np.float64] | sparse.csr_array


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a file, read and checked."""

    path: Path
    features: Features  # a frame where columns have names; svmlight: an array, sparse if it is
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]  # of every feature
    target: NDArray[np.float64]  # 1 for the positive class, or relevances
    positive: str | None = None  # the value of the target that became 1; None: relevances
    groups: NDArray[np.int64] | None = None  # which list a row belongs to
    time: NDArray[np.float64] | None = None  # what orders the rows
    score: NDArray[np.float64] | None = None  # the scores of somebody's model
    dated: bool = False  # whether time is microseconds since 1970, rather than any number
    weight: NDArray[np.float64] | None = None  # how much a row counts
    formats: tuple[Rule, ...] = ()  # how the features were read; none: plain numbers
    columns: tuple[ColumnInfo, ...] = ()  # of the file, with what each was taken for
    slips: tuple[str, ...] = ()  # what is odd about columns, in words
    file_rows: NDArray[np.int64] | None = None  # of every row, counted from 0; None: all, in order
    without_target: int = 0  # rows of the file that are left out
    without_weight: int = 0  # rows of weight 0, which are left out as well

    def __len__(self) -> int:
        return len(self.target)

    @property
    def graded(self) -> bool:
        """Whether the target holds relevances rather than two classes."""
        return self.positive is None

    @property
    def positives(self) -> int:
        """Rows of the positive class, or with any relevance."""
        return int(np.count_nonzero(self.target))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that are left out without being asked for."""
        return tuple(column.name for column in self.columns if column.left_out is not None)

    @property
    def reading(self) -> Reading:
        """How the features are read from a file."""
        if self.formats:
            return Reading(self.formats)
        return Reading(tuple(map(Rule, self.names, self.kinds)))

    def in_file(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """The row numbers in the file, counted from 0, of some rows."""
        return np.asarray(rows if self.file_rows is None else self.file_rows[rows])

    def period(self, rows: NDArray[Any]) -> str | None:
        """From when to when some rows go; None without a time column."""
        if self.time is None or not len(rows):
            return None
        ends = (self.time[rows].min(), self.time[rows].max())
        if not self.dated:
            return " to ".join(f"{end:g}" for end in ends)
        instants = [np.datetime64(int(end), "us").astype("datetime64[s]") for end in ends]
        whole = all(instant == instant.astype("datetime64[D]") for instant in instants)
        shown = (str(each.astype("datetime64[D]") if whole else each) for each in instants)
        return " to ".join(text.replace("T", " ") for text in shown)

    def of(self, rows: NDArray[Any]) -> Features:
        """The features of some rows, by number."""
        return take(self.features, rows)


def take(features: Features, rows: NDArray[Any]) -> Features:
    """Some rows of features, by number."""
    taken: Features = features[rows]
    return taken
