"""Which items of a gallery are right for a query: those of its class, itself left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Positives"]

Ints = NDArray[np.int64]


class Positives:
    """The items of every class of a gallery, found in one sort of the labels."""

    def __init__(self, labels: Ints, query_labels: Ints, own: Ints | None) -> None:
        """``own`` is where each query itself stands in the gallery, None where it does not."""
        self.items = np.argsort(labels, kind="stable")
        ordered = labels[self.items]
        self.start = np.searchsorted(ordered, query_labels, side="left")
        self.size = np.searchsorted(ordered, query_labels, side="right") - self.start
        self.own = own
        self.count = self.size - (own is not None)  # right items of each query

    def of(self, queries: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Right items of some queries, (queries, most), and which of the cells are one."""
        most = int(self.size[queries].max(initial=0))
        cell = np.arange(most)
        there = cell < self.size[queries, None]
        place = np.where(there, self.start[queries, None] + cell, self.start[queries, None])
        items = self.items[np.minimum(place, len(self.items) - 1)]
        if self.own is not None:
            there &= items != self.own[queries, None]
        return items, there
