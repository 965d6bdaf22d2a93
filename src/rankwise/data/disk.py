"""Features that stay in a parquet file: columns of numbers, read where they are used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.boosting.disk import parquet_batches
from rankwise.data.errors import parsing
from rankwise.data.reading import Reading, Rule

_VALUES = 1 << 22  # of a batch


@dataclass(frozen=True, eq=False)
class DiskFeatures:
    """Rows of the numeric columns of a parquet file, of which none is in memory.

    An array of ascending row numbers selects some of the rows.
    """

    path: Path
    names: tuple[str, ...]
    others: tuple[str, ...]  # columns of the file that are not features
    rows: NDArray[np.int64]  # numbers in the file, ascending

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.rows), len(self.names)

    def __getitem__(self, chosen: NDArray[np.int64]) -> DiskFeatures:
        if (np.diff(chosen) <= 0).any():
            raise ValueError("rows on disk must be chosen by ascending numbers")
        return replace(self, rows=self.rows[chosen])

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in order, as :func:`rankwise.data.read_table` reads them."""
        reading = Reading(tuple(Rule(name, "numeric") for name in self.names))
        with parsing(self.path, "parquet"):
            scan = pl.scan_parquet(self.path).select(self.names)
            for _, frame in parquet_batches(scan, self.rows, max(1, _VALUES // len(self.names))):
                yield reading.read(frame)

    def frame(self) -> pl.DataFrame:
        """Return the rows in memory: for a few of them."""
        return pl.concat(list(self.batches()))
