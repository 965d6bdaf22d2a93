"""One pass over the data of a histogram: the exact order inside some of its buckets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.metrics._buckets import Counts2, Frame, bucket_of, read_part
from rankwise.metrics._cells import Cells, cells_of_counts
from rankwise.metrics._counting import count_sorted
from rankwise.metrics.inputs import NumpyArray, Ties

MOST_DISTINCT = 2**22  # different scores of a bucket that has more items than a pass can hold
SAME = 1e-15  # what two sums of float64 may differ by


@dataclass(frozen=True)
class Levels:
    """Positives by descending score, with the negatives tied with each and above it in a piece."""

    positives: NDArray[np.int64]
    tied: NDArray[np.int64]
    above: NDArray[np.int64]

    def cells(self, n_negatives: int, ties: Ties) -> Cells:
        """Return the cells of the piece."""
        return cells_of_counts(self.positives, self.tied, self.above, n_negatives, ties)


@dataclass(frozen=True)
class Piece:
    """A range of buckets, from ``first`` up to and without ``stop``, both with positives."""

    first: int
    stop: int
    held: NDArray[np.int64]  # the buckets with positives, ascending
    items: int  # in them
    frame: Frame
    loose: tuple[tuple[float, float], ...]  # bounds of every metric with the order unknown

    @property
    def open(self) -> bool:
        """Whether the order inside matters to any metric."""
        return any(high - low > SAME for low, high in self.loose)


def resolve(
    pieces: Sequence[Piece],
    counts: Counts2,
    bits: int,
    parts: Iterable[tuple[Any, Any]],
    max_items: int,
) -> Iterator[tuple[Piece, Levels]]:
    """Read the parts once and yield the levels of every piece; none of one with too many scores."""
    chosen = np.zeros(counts.shape[1], dtype=bool)
    for piece in pieces:
        chosen[piece.held] = True
    inside = _scores_inside(chosen, bits, parts)
    if pieces[0].items > max_items:  # one bucket
        (piece,) = pieces
        levels = _count_distinct(inside, counts[:, piece.first])
        if levels is not None:
            yield piece, levels
        return
    negatives, positives = _sorted_classes(inside, counts[:, chosen].sum(1).tolist())
    for piece in pieces:  # from the top: what is left of the arrays ends with its scores
        n_negatives, n_positives = counts[:, piece.held].sum(1).tolist()
        negatives, own_negatives = _split(negatives, n_negatives)
        positives, own_positives = _split(positives, n_positives)
        yield piece, _levels(piece, counts, bits, own_positives, own_negatives)


def _split(values: NumpyArray, count: int) -> tuple[NumpyArray, NumpyArray]:
    """Return an array without its last values, and these."""
    at = len(values) - count
    return values[:at], values[at:]


def _scores_inside(
    chosen: NDArray[np.bool_], bits: int, parts: Iterable[tuple[Any, Any]]
) -> Iterator[tuple[NumpyArray, NumpyArray]]:
    """Yield the negatives and the positives of every part that are in the chosen buckets."""
    for part in parts:
        values, positive = read_part(*part)
        inside = chosen[bucket_of(values, bits)]
        yield values[inside & ~positive], values[inside & positive]


def _sorted_classes(
    inside: Iterable[tuple[NumpyArray, NumpyArray]], sizes: Sequence[int]
) -> list[NumpyArray]:
    held: list[NumpyArray] = []
    filled = [0, 0]
    for classes in inside:
        held = held or [np.empty(size, dtype=classes[0].dtype) for size in sizes]
        for place, values in enumerate(classes):
            stop = filled[place] + len(values)
            if stop > len(held[place]) or held[place].dtype != values.dtype:
                raise ValueError("parts must be the items that were added, of one dtype")
            held[place][filled[place] : stop] = values
            filled[place] = stop
    if filled != list(sizes):
        raise ValueError(
            f"parts must be the items that were added, got {sum(filled)} of {sum(sizes)} in the "
            "buckets to resolve"
        )
    for values in held:
        values.sort()
    return held


def _levels(
    piece: Piece, counts: Counts2, bits: int, positives: NumpyArray, negatives: NumpyArray
) -> Levels:
    """Return the levels of a piece from the sorted scores in its buckets with positives."""
    parts = list(count_sorted(positives, negatives))
    held, tied, above = (
        np.concatenate([getattr(part, name) for part in parts])[::-1]
        for name in ("positives", "negatives", "negatives_above")
    )
    # Negatives in buckets of their own were not held.
    alone = np.where(
        counts[1, piece.first : piece.stop] > 0, 0, counts[0, piece.first : piece.stop]
    )
    higher = alone[::-1].cumsum()[::-1] - alone
    bucket = bucket_of(np.unique(positives)[::-1], bits)
    return Levels(held, tied, above + higher[bucket - piece.first])


def _count_distinct(
    inside: Iterable[tuple[NumpyArray, NumpyArray]], expected: Counts2
) -> Levels | None:
    """Return the levels of one bucket by its different scores; None where they are too many."""
    values: NumpyArray | None = None
    counts = np.zeros((2, 0), dtype=np.int64)
    for classes in inside:
        for place, found in enumerate(classes):
            own, repeats = np.unique(found, return_counts=True)
            known = own[:0] if values is None else values
            joined = np.union1d(known, own)
            if len(joined) > MOST_DISTINCT:
                return None
            merged = np.zeros((2, len(joined)), dtype=np.int64)
            merged[:, joined.searchsorted(known)] = counts
            merged[place, joined.searchsorted(own)] += repeats
            values, counts = joined, merged
    if counts.sum(1).tolist() != expected.tolist():
        raise ValueError(
            f"parts must be the items that were added, got {counts.sum()} of {expected.sum()} in "
            "the bucket to resolve"
        )
    negatives, positives = counts[:, ::-1]
    some = positives > 0
    above = negatives.cumsum() - negatives
    return Levels(positives[some], negatives[some], above[some])
