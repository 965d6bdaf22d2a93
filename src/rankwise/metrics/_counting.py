"""Average precision and AUROC of one long list, with little more memory than the list itself.

Both need, at every distinct score of a positive, how many negatives are tied with it and how many
are above. Where positives are rare nothing is sorted: scores are dropped into many small cells. A
cell with at most one positive value needs a comparison with that value and a count; only what falls
into a cell with several is searched for. The cell is a monotone function of the score, rounding
included, so the counts are exact. Else both classes are sorted, and the positives are searched for
among the negatives chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.metrics._compiled import search_sorted, split_classes
from rankwise.metrics.inputs import NumpyArray, Ties

T = TypeVar("T")
MOST_CELLS = 2**22  # float32 distinguishes all of them, and the table fits a cache
CHUNK = 2**20
SEARCHED = 2**13  # positives searched for at a time: the negatives between them fit a cache
RARE = 1 / 16  # positives per item, and per cell, above which most cells would hold several


# A monotone function from scores to the cells 0 … count + 1; values are in 1 … count.
Cells = Callable[[NumpyArray], NumpyArray]


@dataclass(frozen=True)
class Counts:
    """Counts at and above some distinct scores of positives, by ascending score."""

    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    positives_above: NDArray[np.int64]
    negatives_above: NDArray[np.int64]
    n_positives: int
    n_negatives: int


def fast_average_precision(scores: NumpyArray, target: NumpyArray, ties: Ties) -> float:
    """Return the average precision of one list, NaN if the input is not a list of two classes."""
    total = n_positives = 0.0
    for counts in count_negatives(scores, target):
        true = counts.positives_above + counts.positives
        precision = true / (true + counts.negatives + counts.negatives_above)
        total += float((counts.positives * precision).sum())
        n_positives = counts.n_positives
    return total / n_positives if n_positives else float("nan")


def fast_auroc(scores: NumpyArray, target: NumpyArray, ties: Ties) -> float:
    """Return the AUROC of one list, NaN if the input is not a list of two classes."""
    wrong = pairs = 0.0
    for counts in count_negatives(scores, target):
        above = counts.negatives_above + counts.negatives / (2 if ties == "standard" else 1)
        wrong += float((counts.positives * above).sum())
        pairs = float(counts.n_positives) * counts.n_negatives
    return 1 - wrong / pairs if pairs else float("nan")


def count_negatives(scores: NumpyArray, target: NumpyArray) -> Iterator[Counts]:
    """Count the negatives at every positive, scores ascending over the parts.

    There are no parts for NaN scores, other targets or one class: the checks say what is wrong.
    """
    ones = _in_chunks(len(scores), lambda rows: int(np.count_nonzero(target[rows] == 1)))
    n_positives = sum(ones)
    if n_positives in (0, len(scores)):
        return
    if n_positives <= RARE * min(len(scores), MOST_CELLS):
        parts = _in_chunks(len(scores), lambda rows: _positives(scores[rows], target[rows]))
        if any(part is None for part in parts):
            return
        rare = np.concatenate([part for part in parts if part is not None])
        if (counts := _count_in_cells(scores, rare)) is not None:
            yield counts
            return
    nonzero = _in_chunks(len(scores), lambda rows: int(np.count_nonzero(target[rows])))
    if sum(nonzero) != n_positives:
        return
    positives, negatives = split_classes(scores, target, n_positives)
    for each in (positives, negatives):
        each.sort()
        if np.isnan(each[-1]):  # NaN is sorted behind all numbers
            return
    yield from count_sorted(positives, negatives)


def count_sorted(positives: NumpyArray, negatives: NumpyArray) -> Iterator[Counts]:
    """Count the negatives at every positive of two sorted classes."""
    total = len(positives)
    start = below_stop = 0
    while start < total:
        # Equal scores are never split between two parts.
        stop = start + SEARCHED
        if stop < total:
            stop += int(positives[stop:].searchsorted(positives[stop - 1], side="right"))
        some = positives[start:stop]
        offset = below_stop
        below_stop += int(negatives[offset:].searchsorted(some[-1], side="right"))
        others = negatives[offset:below_stop]
        first = np.flatnonzero(np.append(True, some[1:] != some[:-1]))
        values = some[first]
        below = search_sorted(values, others, total + len(negatives))
        through = below.copy()
        at = np.flatnonzero(others.take(below, mode="clip") == values) if len(others) else below[:0]
        through[at] = others.searchsorted(values[at], side="right")
        held = np.diff(first, append=len(some))
        yield Counts(
            positives=held,
            negatives=through - below,
            positives_above=total - start - first - held,
            negatives_above=len(negatives) - offset - through,
            n_positives=total,
            n_negatives=len(negatives),
        )
        start = stop


def _count_in_cells(scores: NumpyArray, all_positives: NumpyArray) -> Counts | None:
    """Count without a sort of the negatives; None where no cells suit the scores."""
    values, positives = np.unique(all_positives, return_counts=True)
    count = min(MOST_CELLS, len(scores) // 4)
    cells = _finest(values, count)
    if cells is None:
        return None
    items = _histogram(scores, values, cells, count)
    items[1::2] -= positives  # the odd bins hold what is tied with a positive
    through = items.cumsum()[1::2]
    n_positives, n_negatives = len(all_positives), len(scores) - len(all_positives)
    return Counts(
        positives=positives,
        negatives=items[1::2],
        positives_above=n_positives - positives.cumsum(),
        negatives_above=n_negatives - through,
        n_positives=n_positives,
        n_negatives=n_negatives,
    )


def _positives(scores: NumpyArray, target: NumpyArray) -> NumpyArray | None:
    """Return the positive scores of a chunk; None where the checks will raise an error."""
    positive = target if target.dtype == bool else target == 1
    other = np.count_nonzero(target) != np.count_nonzero(positive)
    if other or np.isnan(scores.max()):
        return None
    found: NumpyArray = scores[positive]
    return found


def _histogram(scores: NumpyArray, values: NumpyArray, cells: Cells, n_cells: int) -> NumpyArray:
    """Count items in bins: 2i + 1 holds those at values[i], 2i those just below it."""
    held = np.bincount(cells(values), minlength=n_cells + 2)
    next_value = (held.cumsum() - held).astype(np.int32)
    # Cells with several values are marked by a negative sign.
    next_value[held > 1] = -1
    # Above the last value there is nothing to compare with, and no comparison with NaN holds.
    ceiling = np.append(values, np.asarray(np.nan, values.dtype))

    def count(rows: slice) -> NumpyArray:
        x = scores[rows]
        following = next_value.take(cells(x))
        crowded = np.flatnonzero(following < 0)
        value = ceiling.take(following, mode="wrap")
        bins = following.astype(np.intp)
        bins *= 2
        bins += x > value
        bins += x >= value
        if len(crowded):
            # Only how many land in a bin counts, so they may be sorted: the search is faster then.
            searched = np.sort(x[crowded])
            bins[crowded] = values.searchsorted(searched, side="left")
            bins[crowded] += values.searchsorted(searched, side="right")
        return np.bincount(bins, minlength=2 * len(values) + 1)

    counts: NumpyArray = np.sum(_in_chunks(len(scores), count), axis=0)
    return counts


def _finest(values: NumpyArray, count: int) -> Cells | None:
    """Return the cells that fewest values share: even ones, or ones even in the exponent.

    Logits are spread evenly enough; probabilities crowd toward 0, where floats are dense too.
    """
    finite = values[np.isfinite(values)]
    if len(finite) < 2:
        return None
    choices = [make(finite[0], finite[-1], count) for make in (_even_cells, _float_cells)]
    possible = [cells for cells in choices if cells is not None]
    return max(possible, key=lambda cells: len(np.unique(cells(values))), default=None)


def _even_cells(low: np.floating, high: np.floating, count: int) -> Cells | None:
    with np.errstate(over="ignore", divide="ignore"):
        scale = type(low)(count - 1) / (high - low)
    if not (np.isfinite(scale) and scale > 0):
        return None  # the values span more, or less, than the type can express

    def cell(scores: NumpyArray) -> NumpyArray:
        with np.errstate(over="ignore"):  # numpy's error state is a thread's own
            place: NumpyArray = scores - low
            place *= scale
            place += 1
        np.clip(place, 0, count + 1, out=place)
        return place.astype(np.int32)

    return cell


def _float_cells(low: np.floating, high: np.floating, count: int) -> Cells | None:
    if low <= 0:
        return None
    # The bits of positive floats, read as an integer, are in the order of the floats.
    integer = np.int32 if low.dtype == np.float32 else np.int64
    first, last = int(low.view(integer)), int(high.view(integer))
    shift = max(0, (last - first).bit_length() - count.bit_length() + 1)
    if last - first + 2 + (1 << shift) > np.iinfo(integer).max:
        return None  # nearly all floats there are: rounding up below would run over

    def cell(scores: NumpyArray) -> NumpyArray:
        place: NumpyArray = np.clip(scores.view(integer), first - 1, last + 1)
        place -= integer(first - 1)
        place += integer((1 << shift) - 1)  # round up: cell 0 is for what is below all values
        place >>= shift
        return place

    return cell


def _in_chunks(length: int, work: Callable[[slice], T]) -> list[T]:
    """Work on slices of a long list in threads: numpy releases the interpreter lock."""
    chunks = [slice(start, start + CHUNK) for start in range(0, length, CHUNK)]
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        return list(pool.map(work, chunks))
