"""How lists are shared between threads: blocks of lists, or pieces of a long one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

from rankwise.pairs._compiled.layout import Layout
from rankwise.pairs._compiled.lists import Side, SortedLists
from rankwise.pairs._compiled.sort import Numbers, Whole

_BLOCK = 1 << 20  # items of the lists that are worked at once
_SHARED = 1 << 17  # items from which another thread pays


class Part(NamedTuple):
    """Lists that are worked at once, or a piece of a long one."""

    lists: slice
    upper: slice  # of the places
    lower: slice


class Plan(NamedTuple):
    """All parts, the number of threads they are for, and which sides several parts share."""

    layout: Layout
    parts: list[Part]
    threads: int
    shares_upper: bool
    shares_lower: bool

    @classmethod
    def of(cls, layout: Layout) -> Plan:
        """Return blocks of lists or, for one long list, pieces of its larger side."""
        ends = layout.upper_starts[1:] + layout.lower_starts[1:]
        n_lists, n = len(ends), int(ends[-1]) if len(ends) else 0
        threads = max(1, min(torch.get_num_threads(), n // _SHARED))
        if n_lists == 1 and threads > 1:
            return cls._of_pieces(layout, threads)
        at_once = max(1, min(_BLOCK, -(-n // threads)))
        cuts = np.searchsorted(ends, np.arange(at_once, n + at_once, at_once)) + 1
        cuts = np.unique(np.append(np.minimum(cuts, n_lists), 0))
        parts = [
            Part(
                slice(a, b + 1),
                slice(layout.upper_starts[a], layout.upper_starts[b]),
                slice(layout.lower_starts[a], layout.lower_starts[b]),
            )
            for a, b in pairwise(cuts.tolist())
        ]
        return cls(layout, parts, threads, False, False)

    @classmethod
    def _of_pieces(cls, layout: Layout, threads: int) -> Plan:
        n_upper, n_lower = int(layout.upper_starts[1]), int(layout.lower_starts[1])
        lower_is_larger = n_lower >= n_upper
        whole = slice(0, min(n_upper, n_lower))
        edges = np.linspace(0, max(n_upper, n_lower), threads + 1).astype(int).tolist()
        pieces = [slice(a, b) for a, b in pairwise(edges)]
        parts = [
            Part(slice(0, 2), *((whole, piece) if lower_is_larger else (piece, whole)))
            for piece in pieces
        ]
        return cls(layout, parts, threads, lower_is_larger, not lower_is_larger)

    def lists(self, number: int, upper: Numbers, lower: Numbers, *, sort: bool) -> SortedLists:
        """Return the lists of a part, given the scores of both sides, flat."""
        part, sides = self.parts[number], []
        for scores, starts, places, here in (
            (upper, self.layout.upper_starts, self.layout.upper_places, part.upper),
            (lower, self.layout.lower_starts, self.layout.lower_places, part.lower),
        ):
            if places is None:
                order: Whole = np.arange(here.start, here.stop, dtype=np.int32)
            else:
                order = places[here].copy()
            within = np.clip(starts[part.lists], here.start, here.stop) - here.start
            sides.append(Side(scores, within, order, sort=sort))
        return SortedLists(*sides)

    def run(self, work: Callable[[int], None]) -> None:
        """Call the work of every part, on several threads if it is much."""
        numbers = range(len(self.parts))
        if self.threads == 1:
            for number in numbers:
                work(number)
            return
        # Threads that end with the call: those of a pool that is kept do not survive a fork.
        with ThreadPoolExecutor(self.threads) as pool:
            for _ in pool.map(work, numbers):
                pass
