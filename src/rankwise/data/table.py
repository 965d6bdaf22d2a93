"""A table of features with a target, as the estimators take it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data.disk import DiskFeatures
from rankwise.data.reading import ColumnInfo, Kind, Reading, Rule

MemoryFeatures: TypeAlias = pl.DataFrame | NDArray[np.float64] | sparse.csr_array
Features: TypeAlias = MemoryFeatures | DiskFeatures
Rows: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """A table of features with a target, read and checked by :func:`read_table`.

    Attributes:
        path: The file.
        features: A polars frame; for svmlight an array, sparse if most values are 0.
        names: Names of the features.
        kinds: Kind of every feature: ``"numeric"``, ``"categorical"``, ``"time"`` or ``"text"``.
        target: 1 for the positive class and 0 for the other, relevances, or the numbers of several
            classes.
        positive: The value of the target that became 1; None for relevances and several classes.
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
        classes: The values of a target of more than two classes, in the order of their numbers.

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
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.target)

    @property
    def graded(self) -> bool:
        """Whether the target holds relevances rather than classes."""
        return self.positive is None and not self.classes

    @property
    def positives(self) -> int:
        """Rows of the positive class, or with any relevance."""
        return int(np.count_nonzero(self.target))

    def class_counts(self, rows: Rows) -> dict[str, int]:
        """Return the number of these rows in each of several classes."""
        counts = np.bincount(self.target[rows].astype(np.int64), minlength=len(self.classes))
        return dict(zip(self.classes, counts.tolist(), strict=True))

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
        instants = np.array(ends).astype("datetime64[us]").astype("datetime64[s]")
        whole = bool((instants == instants.astype("datetime64[D]")).all())
        shown = np.datetime_as_string(instants, unit="D" if whole else "s")
        return " to ".join(shown).replace("T", " ")

    def of(self, rows: Rows) -> Features:
        """Return the features of some rows, by number."""
        taken: Features = self.features[rows]
        return taken
