"""What approximate search keeps of a gallery, and what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cells", "Recall"]


@dataclass(frozen=True)
class Cells:
    """A gallery divided, in plain arrays.

    These are kept in a file rather than faiss's own format: that one is read by C++ that trusts it,
    while two arrays can be checked, and the lists of a cell are put together from them at once.
    """

    centers: NDArray[np.float32]  # (cells, dimension)
    cell: NDArray[np.int64]  # (items,) which of them each item is in
    probes: int  # cells that are looked into for a query

    def check(self, items: int, dimension: int) -> None:
        """Raise where they do not belong to a gallery of this size."""
        cells = len(self.centers)
        fits = (
            self.centers.shape == (cells, dimension)
            and self.centers.dtype == np.float32
            and bool(np.isfinite(self.centers).all())
            and self.cell.shape == (items,)
            and self.cell.dtype == np.int64
            and 0 < self.probes <= cells
        )
        # An item in a cell that is not there would be written outside of faiss's memory.
        if not fits or not bool(((self.cell >= 0) & (self.cell < cells)).all()):
            raise ValueError(f"cells must be those of the gallery of {items} × {dimension}")


@dataclass(frozen=True)
class Recall:
    """The share of the nearest k that was found, over some queries."""

    k: int
    mean: float
    standard_error: float
    queries: int

    def __str__(self) -> str:
        error = 1.96 * self.standard_error
        return f"recall@{self.k} {self.mean:.4f} ± {error:.4f} of {self.queries:,} queries"
