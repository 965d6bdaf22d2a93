"""Search of a large gallery in a few of its cells, by faiss, and how much that misses."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import require_count
from rankwise.extras import require
from rankwise.retrieval.cells import Cells, Recall
from rankwise.retrieval.exact import Nearest, asked_of, best_first
from rankwise.retrieval.inputs import embeddings_of

__all__ = ["ApproximateSearch"]

_ROUNDS, _POINTS = 10, 64  # of k-means: its rounds, and items a center is learned from
_SAMPLE = 256  # queries by which the probes are chosen
_EQUAL = 1e-5  # cosines of the same two vectors by two products


class ApproximateSearch:
    """The nearest of a gallery by cosine, looked for in the cells around a query (IVF).

    k-means divides the unit vectors into ``cells``, by default 2√n, and a search looks into the
    ``probes`` cells whose centers are nearest. Without ``probes`` it takes about the fewest
    whose recall@10 is at least ``recall`` on some items of the gallery; what it then is for other
    queries, :meth:`recall` measures. ``cells`` may also be those of the same gallery made before.
    """

    def __init__(
        self,
        embeddings: Any,
        *,
        cells: int | Cells | None = None,
        probes: int | None = None,
        recall: float = 0.95,
        seed: int = 0,
    ) -> None:
        self._faiss = _faiss()
        self._gallery = embeddings_of("embeddings", embeddings, True).contiguous()
        items, dimension = self._gallery.shape
        if items == 0:
            raise ValueError("embeddings must have at least one item to be searched for")
        if not 0 < recall <= 1:
            raise ValueError(f"recall must be in (0, 1], got {recall!r}")
        if isinstance(cells, Cells):
            cells.check(items, dimension)
            made = cells
        else:
            if cells is not None:
                require_count("cells", cells)
            made = self._divided(min(items, cells or math.ceil(2 * math.sqrt(items))), seed)
        self._index = self._filled(made)
        self.cells = made
        if probes is not None:
            require_count("probes", probes)
            self._probe(probes)
        elif not isinstance(cells, Cells):
            self._choose(recall, seed)

    @torch.no_grad()
    def search(self, queries: Any, k: int = 10) -> Nearest:
        """The ``k`` nearest that were found for every query, best first."""
        require_count("k", k)
        return self._found(asked_of(queries, self._gallery.shape[1]), k)

    @torch.no_grad()
    def recall(
        self, queries: Any = None, *, k: int = 10, sample: int = 1000, seed: int = 1
    ) -> Recall:
        """How many of the nearest ``k`` by :func:`~rankwise.retrieval.nearest` are found.

        On at most ``sample`` of the queries, drawn by ``seed``; without any, on items of the
        gallery, each left out of its own. What ties with the last of the k is as good as it.
        """
        require_count("k", k)
        require_count("sample", sample)
        asked = self._gallery if queries is None else asked_of(queries, self._gallery.shape[1])
        rows = _drawn(len(asked), sample, seed)
        shares = self._shares(self._exact(asked[rows], k, rows if queries is None else None))
        error = float(shares.std(ddof=1)) / math.sqrt(len(shares)) if len(shares) > 1 else math.nan
        return Recall(k, float(shares.mean()), error, len(shares))

    def _exact(self, asked: Tensor, k: int, own: Tensor | None) -> _Exact:
        more = k if own is None else k + 1
        scores = _without(best_first(self._gallery, asked, more), own)[:, :k]
        there = np.isfinite(scores)
        last = np.where(there, scores, np.inf).min(1, keepdims=True)
        return _Exact(asked, k, own, last, there.sum(1))

    def _shares(self, exact: _Exact) -> NDArray[np.float64]:
        more = exact.k if exact.own is None else exact.k + 1
        found = _without(self._found(exact.asked, more), exact.own)[:, : exact.k]
        right = (found >= exact.last - _EQUAL).sum(1)
        shares: NDArray[np.float64] = right / np.maximum(1, exact.wanted)
        return np.where(exact.wanted == 0, 1.0, np.minimum(shares, 1))

    def _found(self, asked: Tensor, k: int) -> Nearest:
        scores, rows = self._index.search(asked.contiguous().numpy(), k)
        return Nearest(np.where(rows >= 0, scores, -np.inf).astype(np.float32), rows)

    def _divided(self, cells: int, seed: int) -> Cells:
        means = self._faiss.Kmeans(
            self._gallery.shape[1],
            cells,
            niter=_ROUNDS,
            seed=seed,
            spherical=True,
            min_points_per_centroid=1,
            max_points_per_centroid=_POINTS,
        )
        means.train(self._gallery.numpy())
        centers = np.ascontiguousarray(means.centroids)
        nearest = best_first(torch.from_numpy(centers), self._gallery, 1)
        return Cells(centers, nearest.rows[:, 0].copy(), 1)

    def _filled(self, cells: Cells) -> Any:
        items, dimension = self._gallery.shape
        self._centers = self._faiss.IndexFlatIP(dimension)  # faiss does not keep it alive itself
        self._centers.add(cells.centers)
        index = self._faiss.IndexIVFFlat(
            self._centers, dimension, len(cells.centers), self._faiss.METRIC_INNER_PRODUCT
        )
        names, cell = np.arange(items), np.ascontiguousarray(cells.cell)
        pointers = map(self._faiss.swig_ptr, (self._gallery.numpy(), names, cell))
        index.add_core(items, *pointers)
        index.nprobe = cells.probes
        return index

    def _probe(self, probes: int) -> None:
        probes = min(probes, len(self.cells.centers))
        self._index.nprobe = probes
        self.cells = Cells(self.cells.centers, self.cells.cell, probes)

    def _choose(self, recall: float, seed: int) -> None:
        rows = _drawn(len(self._gallery), _SAMPLE, seed)
        exact = self._exact(self._gallery[rows], 10, rows)
        few, enough = 0, 1
        while enough < len(self.cells.centers) and not self._reaches(recall, enough, exact):
            few, enough = enough, 2 * enough
        enough = min(enough, len(self.cells.centers))
        while enough - few > max(1, enough // 8):  # to an eighth: recall is of a sample anyway
            middle = (few + enough) // 2
            if self._reaches(recall, middle, exact):
                enough = middle
            else:
                few = middle
        self._probe(enough)

    def _reaches(self, recall: float, probes: int, exact: _Exact) -> bool:
        self._probe(probes)
        return float(self._shares(exact).mean()) >= recall


class _Exact(NamedTuple):
    """Queries, and what the search of everything gives for them."""

    asked: Tensor
    k: int
    own: Tensor | None  # where the queries stand in the gallery
    last: NDArray[np.float32]  # score of the k-th, (queries, 1)
    wanted: NDArray[np.int64]  # k, or as many as there are


def _drawn(items: int, sample: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randperm(items, generator=generator)[:sample]


def _without(found: Nearest, own: Tensor | None) -> NDArray[np.float32]:
    """Scores, best first, of what is not the query itself."""
    if own is None:
        return found.scores
    scores = np.where(found.rows == own.numpy()[:, None], -np.inf, found.scores)
    return -np.sort(-scores, axis=1)


def _faiss() -> Any:
    require("rankwise.retrieval", "faiss")
    import faiss  # noqa: PLC0415  (an extra)

    return faiss
