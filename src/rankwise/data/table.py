"""A table as the estimators take it: features and a target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data.reading import Kind, Reading, Rule

Features: TypeAlias = pl.DataFrame | NDArray[np.float64] | sparse.csr_array
Rows: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class ColumnInfo:
    """A column of a file: its kind, counts of its values, and why it was left out."""

    name: str
    taken_for: str
    levels: int  # different values, without missing ones
    missing: int
    left_out: str | None = None  # the reason
    remark: str | None = None

    @property
    def said(self) -> str:
        """The reason it was left out, or the remark."""
        if self.left_out is not None:
            return f"left out: {self.left_out}"
        return self.remark or ""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of features with a target, read and checked by :func:`read_table`.

    Attributes:
        path: The file.
        features: A polars frame; for svmlight an array, sparse if most values are 0.
        names: Names of the features.
        kinds: Kind of every feature: ``"numeric"``, ``"categorical"``, ``"time"`` or ``"text"``.
        target: 1 for the positive class and 0 for the other, or relevances.
        positive: The value of the target that became 1; None for relevances.
        groups: The list of every row, numbered from 0; None without a group column.
        time: What orders the rows; None without a time column.
        score: Scores of an existing model; None without a score column.
        dated: Whether ``time`` is microseconds since 1970, rather than any number.
        weight: Weight of every row; None without a weight column.
        formats: Rules by which the features were read; empty for plain numbers.
        columns: All columns of the file, with the kind of each.
        warnings: Warnings about columns, such as words in a column of numbers.
        file_rows: Row numbers in the file, from 0; None for all rows in order.
        without_target: Number of rows left out for a missing target.
        without_weight: Number of rows left out for a weight of 0.

    Example:
        >>> import tempfile
        >>> import polars as pl
        >>> from rankwise.data import read_table
        >>> path = tempfile.mkdtemp() + "/table.csv"
        >>> pl.DataFrame({"x": [1.5, 2.5, 3.5, 4.5], "y": [0, 0, 1, 1]}).write_csv(path)
        >>> table = read_table(path, target="y")
        >>> len(table), table.names, table.positives
        (4, ('x',), 2)
    """

    path: Path
    features: Features
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    target: NDArray[np.float64]
    positive: str | None = None
    groups: Rows | None = None
    time: NDArray[np.float64] | None = None
    score: NDArray[np.float64] | None = None
    dated: bool = False
    weight: NDArray[np.float64] | None = None
    formats: tuple[Rule, ...] = ()
    columns: tuple[ColumnInfo, ...] = ()
    warnings: tuple[str, ...] = ()
    file_rows: Rows | None = None
    without_target: int = 0
    without_weight: int = 0

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
        """The columns that are left out by themselves."""
        return tuple(column.name for column in self.columns if column.left_out is not None)

    @property
    def reading(self) -> Reading:
        """The rules by which the features are read from a file."""
        if self.formats:
            return Reading(self.formats)
        return Reading(tuple(map(Rule, self.names, self.kinds)))

    def in_file(self, rows: Rows) -> Rows:
        """Return the row numbers in the file, from 0, of some rows."""
        return np.asarray(rows if self.file_rows is None else self.file_rows[rows])

    def period(self, rows: Rows) -> str | None:
        """Return the first and the last time of some rows; None without a time column."""
        if self.time is None or not len(rows):
            return None
        ends = (self.time[rows].min(), self.time[rows].max())
        if not self.dated:
            return " to ".join(f"{end:g}" for end in ends)
        instants = [np.datetime64(int(end), "us").astype("datetime64[s]") for end in ends]
        whole = all(instant == instant.astype("datetime64[D]") for instant in instants)
        shown = (str(each.astype("datetime64[D]") if whole else each) for each in instants)
        return " to ".join(text.replace("T", " ") for text in shown)

    def of(self, rows: Rows) -> Features:
        """Return the features of some rows, by number."""
        taken: Features = self.features[rows]
        return taken
