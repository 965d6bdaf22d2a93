"""Embeddings judged on the whole gallery: blocks of a matrix product, and counting."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import require_count, require_one_of
from rankwise.retrieval.counting import LANES, at_least
from rankwise.retrieval.inputs import embeddings_of, labels_of
from rankwise.retrieval.positives import Positives
from rankwise.retrieval.result import RetrievalResult

__all__ = ["evaluate"]

_BLOCK = 1 << 23  # scores at once, 32 MB
_ROWS = 512  # queries at once, where the gallery is small
_GRID = np.linspace(0, 1, 101)


@torch.no_grad()
def evaluate(
    embeddings: Any,
    labels: Any,
    queries: Any = None,
    query_labels: Any = None,
    *,
    hits: Sequence[int] = (1, 10, 100, 1000),
    similarity: str = "cosine",
) -> RetrievalResult:
    """mAP, hit rates and the rest of every query against the whole gallery.

    ``embeddings`` (items, dimension) and whole-number ``labels`` are the gallery. Without
    ``queries`` every item is one in turn and is itself left out, by its place and not by its score:
    an exact copy of it is an item like any other. ``similarity`` is ``"cosine"`` or ``"dot"``.

    Ties are against us: a wrong item that scores the same as a right one comes before it. A query
    without a right item has no value; it is left out of the means and counted.

    Torch tensors or numpy arrays; the work is done on the processor in single precision, in blocks,
    so that no items × items matrix is ever there. Ranks are counted, not sorted for, where classes
    are small: that costs a fraction of the matrix product.
    """
    require_one_of("similarity", similarity, ("cosine", "dot"))
    for k in hits:
        require_count("hits", k)
    cosine = similarity == "cosine"
    gallery = embeddings_of("embeddings", embeddings, cosine)
    known = labels_of("labels", labels, len(gallery))
    if (queries is None) != (query_labels is None):
        raise ValueError("queries and query_labels must be given together, or neither")
    if queries is None:
        asked, positives = gallery, Positives(known, known, np.arange(len(known)))
        asked_labels = known
    else:
        asked = embeddings_of("queries", queries, cosine)
        if asked.shape[1] != gallery.shape[1]:
            raise ValueError(
                f"queries must have the {gallery.shape[1]} dimensions of embeddings, "
                f"got {asked.shape[1]}"
            )
        asked_labels = labels_of("query_labels", query_labels, len(asked))
        positives = Positives(known, asked_labels, None)
    sums = _Sums(len(asked))
    threads = torch.get_num_threads()
    with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        for rows, ranks in _ranks(asked, gallery, positives, pool):
            sums.take_in(rows, ranks, positives.count[rows])
    return sums.result(hits, asked_labels, len(gallery))


def _ranks(
    asked: Tensor, gallery: Tensor, positives: Positives, pool: ThreadPoolExecutor | None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Queries, and the ranks of their right items in ascending order, ∞ where there are no more."""
    items, dimension = gallery.shape
    width = max(1, math.ceil(items / LANES)) * LANES
    wide = torch.cat([gallery, gallery.new_zeros(width - items, dimension)]).T
    at_once = max(1, min(_ROWS, _BLOCK // width))
    scores = torch.empty(at_once, width)
    # Queries with about as many right items side by side: a block is as wide as its largest.
    order = np.argsort(positives.count, kind="stable")
    for rows in np.array_split(order[positives.count[order] > 0], math.ceil(len(order) / at_once)):
        if len(rows) == 0:
            continue
        block = torch.mm(asked[torch.from_numpy(rows)], wide, out=scores[: len(rows)]).numpy()
        block[:, items:] = -np.inf
        if positives.own is not None:
            block[np.arange(len(rows)), positives.own[rows]] = -np.inf
        right, there = positives.of(rows)
        found = np.where(there, np.take_along_axis(block, right, axis=1), -np.inf)
        found = -np.sort(-found, axis=1)[:, : int(positives.count[rows].max())]
        yield rows, _from_counts(found, at_least(block, found, pool))


def _from_counts(found: NDArray[np.float32], above: NDArray[np.int64]) -> NDArray[np.float64]:
    """Ranks from the right items' scores, descending, and how many of all items are at least each.

    The j-th right item comes behind j − 1 others and every wrong item that is at least as high.
    """
    number = np.arange(1, found.shape[1] + 1)
    last = np.ones(found.shape, dtype=bool)
    last[:, :-1] = found[:, 1:] != found[:, :-1]
    # Right items that are at least as high: through the last one of the same score.
    tied = np.where(last, number, found.shape[1] + 1)
    through = np.minimum.accumulate(tied[:, ::-1], axis=1)[:, ::-1]
    return np.where(np.isneginf(found), np.inf, number + above - through)


class _Sums:
    """What is kept of the ranks of all queries."""

    def __init__(self, queries: int) -> None:
        self.ap, self.first, self.r_precision, self.map_at_r = np.full((4, queries), np.nan)
        self.precision = np.zeros(len(_GRID))

    def take_in(
        self, rows: NDArray[np.int64], ranks: NDArray[np.float64], count: NDArray[np.int64]
    ) -> None:
        number = np.arange(1, ranks.shape[1] + 1)
        precision = number / ranks
        early = ranks <= count[:, None]
        self.ap[rows] = precision.sum(1) / count
        self.first[rows] = ranks[:, 0]
        self.r_precision[rows] = early.sum(1) / count
        self.map_at_r[rows] = (precision * early).sum(1) / count
        reached = np.maximum(1, np.ceil(_GRID * count[:, None] - 1e-9).astype(np.int64))
        self.precision += np.take_along_axis(precision, reached - 1, axis=1).sum(0)

    def result(
        self, hits: Sequence[int], labels: NDArray[np.int64], gallery: int
    ) -> RetrievalResult:
        known = ~np.isnan(self.ap)
        some = int(known.sum())
        if some == 0:
            raise ValueError(
                "labels must have a class with two items, or one that a query shares: "
                "there is nothing to find"
            )
        classes, which = np.unique(labels[known], return_inverse=True)
        by_class = np.bincount(which, self.ap[known]) / np.bincount(which)
        return RetrievalResult(
            map=float(self.ap[known].mean()),
            hit_at={k: float((self.first[known] <= k).mean()) for k in hits},
            r_precision=float(self.r_precision[known].mean()),
            map_at_r=float(self.map_at_r[known].mean()),
            per_class=dict(zip(classes.tolist(), by_class.tolist(), strict=True)),
            recall=_GRID.copy(),
            precision=self.precision / some,
            average_precision=self.ap,
            first_rank=self.first,
            gallery=gallery,
            left_out=len(known) - some,
        )
