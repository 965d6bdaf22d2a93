"""The exact order inside the buckets of a histogram, from further passes over the data.

Buckets are worked on in pieces, from the top. What the order inside a piece adds to a metric is
computed in its :class:`Frame`, and the pieces are added up: the memory is that of one piece, and of
the scores that one pass holds, whatever the number of items and of positives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.metrics._buckets import SLACK, Counts2, Frame, bounds_of, exact_value
from rankwise.metrics._cells import Cells
from rankwise.metrics._pass import SAME, Levels, Piece, resolve
from rankwise.metrics._setting import Setting
from rankwise.metrics.inputs import Ties

MOST_ITEMS = 2**27  # whose scores a pass holds
MOST_POSITIVES = 2**20  # of a piece: some ten arrays of three numbers each


@dataclass(frozen=True)
class Refined:
    """The bounds of every metric, and the levels of the whole list as far as they were resolved."""

    bounds: list[tuple[float, float]]
    levels: Levels


def refine(
    counts: Counts2,
    bits: int,
    parts: Iterable[tuple[Any, Any]] | None,
    settings: Sequence[Setting],
    max_items: int,
) -> Refined:
    """Return the bounds of metrics with the order inside the buckets, read from the parts.

    The levels are exact in the first 2²⁰ positives from the top. Below that the items of a bucket
    count as tied. Without parts this is so everywhere.
    """
    pieces = list(_pieces(counts, settings, max_items))
    low, high = np.array([bounds_of(setting, counts) for setting in settings]).reshape(-1, 2).T
    kept: dict[int, Levels] = {}
    if parts is not None:
        open_pieces = [piece for piece in pieces if piece.open]
        for number, together in enumerate(_passes(open_pieces, max_items)):
            if number == 1 and isinstance(parts, Iterator):
                raise ValueError(
                    "parts must be read several times for this number of items, got an iterator; "
                    "pass a list, or an object whose __iter__ starts again"
                )
            for piece, levels in resolve(together, counts, bits, parts, max_items):
                for place, gain in enumerate(_gains(piece, levels, counts, settings)):
                    low[place] += gain[0]
                    high[place] += gain[1]
                if piece is pieces[0]:
                    kept[piece.stop] = levels
    slack = SLACK * (1 + len(pieces))
    least = np.array([setting.kernel.least for setting in settings])
    bounds = zip(
        (low - slack).clip(least).tolist(), (high + slack).clip(None, 1).tolist(), strict=True
    )
    return Refined(list(bounds), _joined(counts, pieces, kept))


def _pieces(counts: Counts2, settings: Sequence[Setting], max_items: int) -> Iterator[Piece]:
    """Yield the buckets with positives in ranges from the top, each for one evaluation."""
    positives = counts[1]
    buckets = np.flatnonzero(positives)[::-1]
    items = counts[:, buckets].sum(0).cumsum()
    held = positives[buckets].cumsum()
    total, start = counts.sum(1), 0
    while start < len(buckets):
        before = (
            held[start] - positives[buckets[start]],
            items[start] - counts[:, buckets[start]].sum(),
        )
        stop = min(
            int(held.searchsorted(before[0] + MOST_POSITIVES, side="right")),
            int(items.searchsorted(before[1] + max_items, side="right")),
        )
        stop = max(start + 1, stop)
        first, last = int(buckets[stop - 1]), int(buckets[start]) + 1
        inside = counts[:, first:last]
        above = counts[:, last:].sum(1)
        frame = Frame(above, total - above - inside.sum(1))
        loose = tuple(bounds_of(setting, inside, frame) for setting in settings)
        size = int(items[stop - 1] - before[1])
        yield Piece(first, last, buckets[start:stop][::-1], size, frame, loose)
        start = stop


def _passes(pieces: Sequence[Piece], max_items: int) -> Iterator[list[Piece]]:
    """Yield the pieces whose scores one pass holds; one alone may have more."""
    together: list[Piece] = []
    for piece in pieces:
        if together and sum(each.items for each in together) + piece.items > max_items:
            yield together
            together = []
        together.append(piece)
    if together:
        yield together


def _gains(
    piece: Piece, levels: Levels, counts: Counts2, settings: Sequence[Setting]
) -> Iterator[tuple[float, float]]:
    """Yield what the order inside a piece adds to both bounds of every metric."""
    n_negatives = int(counts[0, piece.first : piece.stop].sum())
    cells: dict[Ties, Cells] = {}
    for setting, (low, high) in zip(settings, piece.loose, strict=True):
        if high - low <= SAME:
            yield 0.0, 0.0
            continue
        if setting.ties not in cells:
            cells[setting.ties] = piece.frame.around(levels.cells(n_negatives, setting.ties))
        exact = exact_value(setting, cells[setting.ties])
        yield exact - low, exact - high


def _joined(counts: Counts2, pieces: Sequence[Piece], kept: dict[int, Levels]) -> Levels:
    """Return the levels of the whole list; where they are not known a bucket is one."""
    found = []
    for piece in pieces:
        levels = kept.get(piece.stop)
        if levels is None:
            negatives, positives = counts[:, piece.first : piece.stop][:, ::-1]
            some = positives > 0
            above = negatives.cumsum() - negatives
            levels = Levels(positives[some], negatives[some], above[some])
        found.append(Levels(levels.positives, levels.tied, levels.above + piece.frame.above[0]))
    columns = (np.concatenate([getattr(each, n) for each in found]) for n in vars(found[0]))
    return Levels(*columns)
