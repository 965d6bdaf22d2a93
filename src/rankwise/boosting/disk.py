"""Rows in a file, read in blocks: tables that are larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

if TYPE_CHECKING:
    import polars as pl

BLOCK = 1 << 23
"""Bytes of a block that is read at a time."""

Values: TypeAlias = NDArray[Any]

_FAR = 16  # rows of the file for each row that is wanted, above which the others are not read


class DiskMatrix:
    """A matrix of numbers in a file, row after row; rows are in memory only while they are used.

    A slice or an array of row numbers returns these rows as an array. :meth:`select` returns some
    of the rows without reading them. ``matrix @ w`` and ``g @ matrix`` are computed in blocks.

    Args:
        path: The file.
        columns: Number of columns.
        dtype: Type of the numbers.
        rows: Numbers of the rows in the file, ascending; None: all of them.
    """

    ndim = 2
    __array_ufunc__ = None  # numpy leaves ``g @ matrix`` to this class

    def __init__(
        self,
        path: Path,
        columns: int,
        dtype: DTypeLike = np.float32,
        rows: NDArray[np.integer] | None = None,
    ) -> None:
        self.path, self.columns, self.dtype, self.rows = path, columns, np.dtype(dtype), rows
        self._width = max(1, self.columns * self.dtype.itemsize)  # bytes of a row
        self._count = path.stat().st_size // self._width if rows is None else len(rows)

    @classmethod
    def write(
        cls, path: Path, columns: int, blocks: Iterable[Values], dtype: DTypeLike = np.float32
    ) -> DiskMatrix:
        """Write blocks of rows into a file, one after the other."""
        with path.open("wb") as file:
            for block in blocks:
                file.write(np.ascontiguousarray(block, dtype=dtype).data)
        return cls(path, columns, dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self._count, self.columns

    @property
    def size(self) -> int:
        """Number of values."""
        return self._count * self.columns

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, chosen: slice | NDArray[np.integer]) -> Values:
        """Return rows as an array; slices have no steps."""
        if isinstance(chosen, slice):
            start, stop, _ = chosen.indices(self._count)
            return self._between(start, stop)
        places = chosen if self.rows is None else self.rows[chosen]
        # Mapped for this call alone: pages that stay mapped count as memory of the process.
        mapped = np.memmap(self.path, self.dtype, "r", shape=self._whole)
        return np.array(mapped[places])

    def _between(self, start: int, stop: int) -> Values:
        if stop <= start:
            return np.empty((0, self.columns), self.dtype)
        if self.rows is None:
            return self._read(start, stop)
        places = self.rows[start:stop]
        first, last = int(places[0]), int(places[-1])
        if last - first > _FAR * len(places):
            return self[np.arange(start, stop)]
        # Block by block: the rows between a few that are wanted may take many times their memory.
        found, step, done = np.empty((len(places), self.columns), self.dtype), self._step(), 0
        for begin in range(first, last + 1, step):
            stop = min(begin + step, last + 1)
            # In the type of the places: any other would copy all that are left, for every block.
            end = done + int(np.searchsorted(places[done:], places.dtype.type(stop)))
            block = self._read(begin, stop)
            found[done:end] = block[places[done:end] - places.dtype.type(begin)]
            done = end
        return found

    def _step(self, size: int | None = None) -> int:
        """Return the rows of a block."""
        return max(1, (size or BLOCK) // self._width)

    def _read(self, start: int, stop: int) -> Values:
        count, begin = (stop - start) * self.columns, start * self._width
        return np.fromfile(self.path, self.dtype, count, offset=begin).reshape(-1, self.columns)

    @property
    def _whole(self) -> tuple[int, int]:
        return self.path.stat().st_size // self._width, self.columns

    def select(self, chosen: NDArray[np.integer] | NDArray[np.bool_]) -> DiskMatrix:
        """Return a matrix of some of the rows, by ascending number or by a boolean mask."""
        places: NDArray[np.integer]
        places = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        if self.rows is not None:
            places = self.rows[places]
        elif self._count < 2**32:
            places = places.astype(np.uint32)
        return DiskMatrix(self.path, self.columns, self.dtype, places)

    def blocks(self, size: int | None = None) -> Iterator[Values]:
        """Yield all rows in order, about ``size`` bytes at a time (:data:`BLOCK` by default)."""
        step = self._step(size)
        for start in range(0, self._count, step):
            yield self._between(start, min(start + step, self._count))

    def __matmul__(self, weights: Values) -> Values:
        """Return the products of the rows with a vector, or with the columns of a matrix."""
        parts = [block @ weights for block in self.blocks()]
        return np.concatenate(parts) if parts else np.zeros((0, *weights.shape[1:]))

    def __rmatmul__(self, factors: Values) -> NDArray[np.float64]:
        """Return the sum of the rows times their factors, added up in double precision."""
        total, done = np.zeros(self.columns), 0
        for block in self.blocks():
            total += factors[done : done + len(block)] @ block
            done += len(block)
        return total


def parquet_batches(
    scan: pl.LazyFrame, rows: NDArray[np.int64] | None, step: int
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield rows of a file by ascending number, those of ``step`` rows of the file at a time.

    Args:
        scan: The columns to read.
        rows: Numbers of the rows, from 0 and ascending; None: all of them.
        step: Rows of the file that are read at a time.
    """
    import polars as pl  # noqa: PLC0415  (only files need it)

    height = int(scan.select(pl.len()).collect().item())
    for start in range(0, height, step):
        if rows is None:
            yield start, scan.slice(start, step).collect()
            continue
        first, last = np.searchsorted(rows, [start, start + step])
        if first < last:
            yield start, scan.slice(start, step).collect()[rows[first:last] - start]


def by_blocks(scores: Callable[[Any], NDArray[np.float64]]) -> Callable[[Any], NDArray[np.float64]]:
    """Return a function of rows that takes rows on disk a block at a time."""

    def of_rows(rows: Any) -> NDArray[np.float64]:
        if isinstance(rows, DiskMatrix):
            return np.concatenate([scores(block) for block in rows.blocks()])
        return scores(rows)

    return of_rows
