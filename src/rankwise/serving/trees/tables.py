"""Scores of trees by lookup tables, in numpy.

A value of a column matters only by its place among the thresholds of all trees: its bin. What a
tree's splits of one column leave of its leaves is then a table from bins to sets of leaves, and a
set of up to 64 leaves is an integer. The leaf of a row is the one that is in the sets of all
columns, so a score takes one lookup and one ``&`` for each column that a tree uses, for many rows
at a time. Larger trees are split into words of 64 leaves; the words without the leaf add 0.

The idea of leaves as bits: Lucchese et al. 2015, "QuickScorer".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rankwise.limits import MAX_TREE_BYTES
from rankwise.serving.trees.tree import Floats, Integers, Tree, TreeSet

_BITS = 64
_ROWS = 512  # scored at a time
_LOOKUPS = 1 << 17  # at a time: what stays in the cache of a processor

Words = NDArray[np.uint64]


class TreeTables:
    """Lookup tables of a set of trees.

    Args:
        trees: The trees.

    Raises:
        ValueError: A column is split as a number and as categories, or the tables are too large.
    """

    def __init__(self, trees: TreeSet) -> None:
        self.columns, self.dtype = trees.columns, trees.dtype
        self.bins = _bins(trees)
        self.used = sorted(self.bins)
        place = {feature: number for number, feature in enumerate(self.used)}
        tables: list[Words] = []
        features: list[int] = []
        starts: list[int] = []
        values: list[Floats] = []
        total = 0
        for tree in trees.trees:
            for table, leaves in _words_of(tree, self.bins):
                starts.append(len(features))
                features += [place[feature] for feature in table]
                tables += table.values()
                values.append(leaves)
                total += sum(each.nbytes for each in table.values())
                if total > MAX_TREE_BYTES:
                    raise ValueError(f"the tables of the trees have over {total:,} bytes")
        self.table = np.concatenate(tables) if tables else np.zeros(0, np.uint64)
        sizes = [len(each) for each in tables]
        self.offset = np.cumsum([0, *sizes[:-1]])[:, None]
        self.feature = np.array(features, dtype=np.int64)
        self.starts = np.array([*starts, len(features)], dtype=np.int64)
        self.values = np.concatenate(values or [np.zeros(0)]).astype(self.dtype)

    def __call__(self, rows: Floats) -> Floats:
        """Return the sum of the leaves of every row, (rows,)."""
        scores = np.zeros(len(rows), dtype=self.dtype)
        for start in range(0, len(rows), _ROWS):
            part = np.asarray(rows[start : start + _ROWS], dtype=self.dtype)
            if not self.used:  # no tree
                break
            bins = np.stack([self.bins[f](part[:, f]) for f in self.used])
            found = scores[start : start + _ROWS]
            for first, last in self._chunks(len(part)):
                found[:] = self._add(found, bins, first, last)
        return scores.astype(np.float64)

    def _chunks(self, rows: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of words with a bounded number of lookups for some rows."""
        most, first, words = max(1, _LOOKUPS // rows), 0, len(self.starts) - 1
        while first < words:
            reached = np.searchsorted(self.starts, self.starts[first] + most, side="right") - 1
            last = min(max(int(reached), first + 1), words)
            yield first, last
            first = last

    def _add(self, before: NDArray[np.floating], bins: Integers, first: int, last: int) -> Floats:
        starts = self.starts[first : last + 1]
        pairs = slice(starts[0], starts[-1])
        places = bins[self.feature[pairs]]
        places += self.offset[pairs]
        sets = self.table.take(places, mode="clip")  # in range: the mode is for its speed
        leaf = np.bitwise_and.reduceat(sets, starts[:-1] - starts[0], axis=0)
        # One bit at most: its number, from 1, is the exponent; without a bit it is 0.
        number = np.frexp(leaf.astype(np.float64))[1]
        number += (np.arange(first, last, dtype=np.int32) * (_BITS + 1))[:, None]
        added = np.empty((last - first + 1, len(before)), dtype=self.dtype)
        added[0] = before
        self.values.take(number, out=added[1:], mode="clip")
        # Tree after tree, as the libraries add; a plain sum would add in pairs.
        found: Floats = np.add.accumulate(added, axis=0)[-1]
        return found


class _NumberBins:
    """The number of thresholds below a value; missing values have a bin of their own."""

    def __init__(self, edges: Floats) -> None:
        self.edges, self.missing = edges, len(edges) + 1

    def __len__(self) -> int:
        return self.missing + 1

    def __call__(self, values: NDArray[np.floating]) -> Integers:
        found = np.searchsorted(self.edges, values.astype(np.float64))
        return np.where(np.isnan(values), self.missing, found)

    def goes_left(self, tree: Tree, node: int) -> NDArray[np.bool_]:
        """Return whether a row of each bin goes left."""
        edge = np.searchsorted(self.edges, tree.threshold[node])
        left: NDArray[np.bool_] = np.arange(len(self)) <= edge
        left[self.missing] = tree.missing_left[node]
        return left


class _CategoryBins:
    """A bin for each category, one for those that no split has, one for missing values."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count + 2

    def __call__(self, values: NDArray[np.floating]) -> Integers:
        with np.errstate(invalid="ignore"):
            known = (values >= 0) & (values < self.count)
        found = np.where(known, values, self.count).astype(np.int64)
        return np.where(np.isnan(values), self.count + 1, found)

    def goes_left(self, tree: Tree, node: int) -> NDArray[np.bool_]:
        """Return whether a row of each bin goes left."""
        left = np.zeros(len(self), dtype=np.bool_)
        left[tree.members[node]] = True
        left[-1] = tree.missing_left[node]
        return left


def _bins(trees: TreeSet) -> dict[int, _NumberBins | _CategoryBins]:
    """Return the bins of every column that is split; of the first one where none is."""
    by_category = trees.categorical()
    edges: dict[int, list[float]] = {0: []} if trees.trees else {}
    most: dict[int, int] = dict.fromkeys(by_category, 0)
    for tree in trees.trees:
        for node, feature in enumerate(tree.feature.tolist()):
            if feature in by_category:
                most[feature] = max(most[feature], 1 + int(tree.members[node].max(initial=-1)))
            else:
                edges.setdefault(feature, []).append(float(tree.threshold[node]))
    found: dict[int, _NumberBins | _CategoryBins]
    found = {feature: _NumberBins(np.unique(each)) for feature, each in edges.items()}
    return found | {feature: _CategoryBins(count) for feature, count in most.items()}


def _words_of(
    tree: Tree, bins: dict[int, _NumberBins | _CategoryBins]
) -> Iterator[tuple[dict[int, Words], Floats]]:
    """Yield for each 64 leaves a table per column, and the values by the number of the bit + 1."""
    order, spans = _spans(tree)
    for first in range(0, len(order), _BITS):
        leaves = tree.leaves[order[first : first + _BITS]]
        every, values = (1 << len(leaves)) - 1, np.zeros(_BITS + 1)
        values[1 : len(leaves) + 1] = leaves
        tables: dict[int, Words] = {}
        for node, (begin, middle, end) in spans.items():
            to_left = every & ~_range(middle - first, end - first)
            to_right = every & ~_range(begin - first, middle - first)
            if to_left == to_right == every:
                continue  # none of these leaves is below
            feature = int(tree.feature[node])
            if feature not in tables:
                tables[feature] = np.full(len(bins[feature]), every, dtype=np.uint64)
            left = bins[feature].goes_left(tree, node)
            tables[feature] &= np.where(left, np.uint64(to_left), np.uint64(to_right))
        if not tables:  # a tree that is one leaf
            anywhere = min(bins)
            tables[anywhere] = np.full(len(bins[anywhere]), every, dtype=np.uint64)
        yield tables, values


def _range(begin: int, end: int) -> int:
    """Return an integer with the bits from ``begin`` to before ``end`` set."""
    return (1 << max(0, end)) - 1 & ~((1 << max(0, begin)) - 1)


def _spans(tree: Tree) -> tuple[list[int], dict[int, tuple[int, int, int]]]:
    """Return the leaves from left to right, and the places of each node's leaves among them.

    A node has its left leaves from the first to before the second place, its right ones to before
    the third.
    """
    order: list[int] = []
    begin: dict[int, int] = {}
    middle: dict[int, int] = {}
    end: dict[int, int] = {}
    waiting: list[tuple[int, dict[int, int] | None]] = [(0 if len(tree.feature) else -1, None)]
    while waiting:
        node, note = waiting.pop()
        if note is not None:
            note[node] = len(order)
        elif node < 0:
            order.append(~node)
        else:
            begin[node] = len(order)
            right, left = int(tree.right[node]), int(tree.left[node])
            waiting += [(node, end), (right, None), (node, middle), (left, None)]
    return order, {node: (begin[node], middle[node], end[node]) for node in begin}
