"""Evaluation of embeddings on the whole gallery: blocks of a matrix product, and counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import require_count, require_one_of
from rankwise.retrieval.hierarchy import HierarchicalResult
from rankwise.retrieval.search import asked_of, embeddings_of, labels_of

LANES = 8 * 255
"""Columns come in multiples of this: eight flags to a word, 255 words before a byte is full."""

_FEW = 256  # thresholds up to which one comparison each is cheaper than to sort the row
_ROWS = 32  # rows in one comparison: enough for a thread, few enough to stay in the cache

Scores = NDArray[np.float32]


def at_least(
    scores: Scores, thresholds: Scores, pool: ThreadPoolExecutor | None = None
) -> NDArray[np.int64]:
    """Count #{j : scores[i, j] ≥ thresholds[i, t]} for every row i and threshold t, (rows, t).

    ``scores`` is contiguous, its width a multiple of :data:`LANES`, padded with −∞. Rows are split
    among the threads of ``pool``.
    """
    count = _compared if thresholds.shape[1] <= _FEW else _searched
    parts = [slice(start, start + _ROWS) for start in range(0, len(scores), _ROWS)]
    work = (map if pool is None else pool.map)(
        lambda rows: count(scores[rows], thresholds[rows]), parts
    )
    return np.concatenate([np.empty((0, thresholds.shape[1]), np.int64), *work])


def _compared(scores: Scores, thresholds: Scores) -> NDArray[np.int64]:
    """Compare with each threshold; the flags, a byte each, are added eight at a time as words."""
    flags = np.empty(scores.shape, dtype=bool)
    found = np.empty(thresholds.shape, dtype=np.int64)
    for t in range(thresholds.shape[1]):
        np.greater_equal(scores, thresholds[:, t : t + 1], out=flags)
        words = flags.view(np.int64).reshape(len(scores), -1, 255).sum(-1)
        found[:, t] = words.view(np.uint8).reshape(len(scores), -1).sum(-1, dtype=np.int64)
    return found


def _searched(scores: Scores, thresholds: Scores) -> NDArray[np.int64]:
    """Sort the row and search the thresholds in it: cheaper for many thresholds."""
    found = np.empty(thresholds.shape, dtype=np.int64)
    for row, ordered in enumerate(np.sort(scores, axis=1)):
        found[row] = len(ordered) - np.searchsorted(ordered, thresholds[row], side="left")
    return found


Ints = NDArray[np.int64]


class Positives:
    """The items of every class of a gallery, found in one sort of the labels."""

    def __init__(self, labels: Ints, query_labels: Ints, own: Ints | None) -> None:
        """``own`` is the place of each query in the gallery, None for queries from elsewhere."""
        self.items = np.argsort(labels, kind="stable")
        ordered = labels[self.items]
        self.start = np.searchsorted(ordered, query_labels, side="left")
        self.size = np.searchsorted(ordered, query_labels, side="right") - self.start
        self.own = own
        self.count = self.size - (own is not None)  # positives of each query

    def of(self, queries: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the positives of some queries, (queries, most), and a mask of the valid cells."""
        most = int(self.size[queries].max(initial=0))
        cell = np.arange(most)
        there = cell < self.size[queries, None]
        place = np.where(there, self.start[queries, None] + cell, self.start[queries, None])
        items = self.items[np.minimum(place, len(self.items) - 1)]
        if self.own is not None:
            there &= items != self.own[queries, None]
        return items, there


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RetrievalResult:
    """Means over the queries with at least one positive in the gallery.

    Attributes:
        map: Mean average precision.
        hit_at: Share of queries with a positive among the first k, by k: Recall@k.
        r_precision: Precision among the first R, R the number of positives.
        map_at_r: Mean average precision at R.
        per_class: mAP of the queries of each class.
        recall: Recall levels 0, .01, …, 1.
        precision: Mean precision at the rank where each recall level is reached.
        average_precision, first_rank: Values by query, NaN where a query was left out.
        gallery: Number of items in the gallery.
        left_out: Number of queries without a positive.
        hierarchical: H-AP, ASI and NDCG where classes have super-classes.

    Example:
        >>> import torch
        >>> from rankwise.retrieval import evaluate
        >>> embeddings = torch.tensor([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
        >>> evaluate(embeddings, torch.tensor([0, 0, 1, 1])).map
        1.0
    """

    map: float
    hit_at: dict[int, float]
    r_precision: float
    map_at_r: float
    per_class: dict[int, float]
    recall: Floats
    precision: Floats
    average_precision: Floats
    first_rank: Floats
    gallery: int
    left_out: int
    hierarchical: HierarchicalResult | None = None

    @property
    def queries(self) -> int:
        """Number of queries in the means."""
        return len(self.average_precision) - self.left_out

    @property
    def standard_error(self) -> float:
        """Standard error of ``map`` over the queries."""
        values = self.average_precision[~np.isnan(self.average_precision)]
        return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan

    def __str__(self) -> str:
        error = self.standard_error
        sure = "" if math.isnan(error) else f" ± {1.96 * error:.4f}"
        hits = "".join(f"hit@{k} {value:.4f}, " for k, value in self.hit_at.items())
        text = f"mAP {self.map:.4f}{sure}, {hits}"
        text += f"R-precision {self.r_precision:.4f}, MAP@R {self.map_at_r:.4f} "
        queries = "1 query" if self.queries == 1 else f"{self.queries} queries"
        text += f"({queries}, {self.gallery} in the gallery"
        return text + (f"; {self.left_out} with nothing to find)" if self.left_out else ")")


_BLOCK = 1 << 23  # scores in one block, 32 MB
_QUERIES = 512  # queries in one block, where the gallery is small
_GRID = np.linspace(0, 1, 101)


@torch.no_grad()
def evaluate(
    embeddings: object,
    labels: object,
    queries: object = None,
    query_labels: object = None,
    *,
    hits: Sequence[int] = (1, 10, 100, 1000),
    similarity: str = "cosine",
) -> RetrievalResult:
    """Compute mAP, hit rates and other metrics of every query against the whole gallery.

    Ties count against the ranking: a negative with the score of a positive comes before it. A query
    without a positive has no value; it is left out of the means and counted. The computation runs
    on the CPU in float32, in blocks, without an items × items matrix. Ranks are counted rather than
    sorted where classes are small, at a fraction of the cost of the matrix product.

    Args:
        embeddings: Gallery, (items, dimension), a torch tensor or a numpy array.
        labels: Integer class of each item, (items,).
        queries: Queries, (queries, dimension). By default every item is a query in turn and is
            itself left out, by its place and not by its score: an exact copy of it stays.
        query_labels: Integer class of each query, (queries,).
        hits: Numbers k of first ranks for ``hit_at``.
        similarity: ``"cosine"`` or ``"dot"``.

    Returns:
        The metrics, with their values by query.

    Example:
        >>> import torch
        >>> from rankwise.retrieval import evaluate
        >>> embeddings = torch.tensor([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
        >>> found = evaluate(embeddings, torch.tensor([0, 1, 1, 0]), hits=(1,))
        >>> found.hit_at[1], round(found.map, 4)  # ranks 2, 3, 3, 2: (1/2 + 1/3)/2
        (0.0, 0.4167)
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
        asked, asked_labels = gallery, known
        positives = Positives(known, known, np.arange(len(known)))
    else:
        asked = asked_of(queries, gallery.shape[1], cosine)
        asked_labels = labels_of("query_labels", query_labels, len(asked))
        positives = Positives(known, asked_labels, None)
    ap, first_rank, r_precision, map_at_r = np.full((4, len(asked)), np.nan)
    curve = np.zeros(len(_GRID))
    threads = torch.get_num_threads()
    with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        for rows, ranks in _ranks(asked, gallery, positives, pool):
            count = positives.count[rows]
            precision = np.arange(1, ranks.shape[1] + 1) / ranks
            early = ranks <= count[:, None]
            ap[rows] = precision.sum(1) / count
            first_rank[rows] = ranks[:, 0]
            r_precision[rows] = early.sum(1) / count
            map_at_r[rows] = (precision * early).sum(1) / count
            reached = np.maximum(1, np.ceil(_GRID * count[:, None] - 1e-9).astype(np.int64))
            curve += np.take_along_axis(precision, reached - 1, axis=1).sum(0)
    valued = ~np.isnan(ap)
    if not valued.any():
        raise ValueError(
            "labels must have a class with two items, or one that a query shares: "
            "there is nothing to find"
        )
    classes, which = np.unique(asked_labels[valued], return_inverse=True)
    by_class = np.bincount(which, ap[valued]) / np.bincount(which)
    return RetrievalResult(
        map=float(ap[valued].mean()),
        hit_at={k: float((first_rank[valued] <= k).mean()) for k in hits},
        r_precision=float(r_precision[valued].mean()),
        map_at_r=float(map_at_r[valued].mean()),
        per_class=dict(zip(classes.tolist(), by_class.tolist(), strict=True)),
        recall=_GRID.copy(),
        precision=curve / valued.sum(),
        average_precision=ap,
        first_rank=first_rank,
        gallery=len(gallery),
        left_out=int((~valued).sum()),
    )


def _ranks(
    asked: Tensor, gallery: Tensor, positives: Positives, pool: ThreadPoolExecutor | None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield queries and the ranks of their positives, ascending, ∞ where there are no more."""
    items, dimension = gallery.shape
    width = max(1, math.ceil(items / LANES)) * LANES
    wide = torch.cat([gallery, gallery.new_zeros(width - items, dimension)]).T
    rows_per_block = max(1, min(_QUERIES, _BLOCK // width))
    scores = torch.empty(rows_per_block, width)
    # Queries with about the same number of positives together: a block is as wide as its largest.
    order = np.argsort(positives.count, kind="stable")
    for rows in np.array_split(
        order[positives.count[order] > 0], math.ceil(len(order) / rows_per_block)
    ):
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
    """Return ranks from the scores of positives, descending, and the counts of items above.

    The j-th positive comes after j − 1 others and every negative that is at least as high.
    """
    number = np.arange(1, found.shape[1] + 1)
    last = np.ones(found.shape, dtype=bool)
    last[:, :-1] = found[:, 1:] != found[:, :-1]
    # Positives that are at least as high: through the last one of the same score.
    tied = np.where(last, number, found.shape[1] + 1)
    through = np.minimum.accumulate(tied[:, ::-1], axis=1)[:, ::-1]
    return np.where(np.isneginf(found), np.inf, number + above - through)
