"""Approximate search for the items of a gallery nearest to each query, in some of its cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import require_count
from rankwise.extras import require
from rankwise.retrieval.search import Nearest, asked_of, best_first, embeddings_of

_ROUNDS, _POINTS = 10, 64  # of k-means: its rounds, and items a center is learned from
_SAMPLE = 256  # queries by which the probes are chosen
_EQUAL = 1e-5  # cosines of the same two vectors by two products


@dataclass(frozen=True)
class Cells:
    """The cells of a gallery in plain arrays.

    These are kept in a file rather than faiss's own format: that one is read by C++ that trusts it,
    while two arrays can be checked.

    Attributes:
        centers: Centers of the cells, (cells, dimension).
        cell: The cell of each item, (items,).
        probes: Number of cells that are searched for a query.

    Example:
        >>> import numpy as np
        >>> from rankwise.retrieval import Cells
        >>> cells = Cells(np.eye(2, dtype=np.float32), np.array([0, 1, 1]), probes=1)
        >>> cells.check(items=3, dimension=2)  # raises where they do not fit
    """

    centers: NDArray[np.float32]
    cell: NDArray[np.int64]
    probes: int

    def check(self, items: int, dimension: int) -> None:
        """Raise where the cells are not those of a gallery of this size."""
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
    """The share of the nearest k that was found, over some queries.

    Attributes:
        k: Number of nearest items.
        mean: Mean share over the queries.
        standard_error: Standard error of the mean.
        queries: Number of queries.

    Example:
        >>> from rankwise.retrieval import Recall
        >>> print(Recall(10, 0.95, 0.01, 400))
        recall@10 0.9500 ± 0.0196 of 400 queries
    """

    k: int
    mean: float
    standard_error: float
    queries: int

    def __str__(self) -> str:
        error = 1.96 * self.standard_error
        return f"recall@{self.k} {self.mean:.4f} ± {error:.4f} of {self.queries:,} queries"


class ApproximateSearch:
    """Approximate nearest-neighbor search by cosine in the cells around a query (IVF).

    k-means divides the unit vectors into cells, and a search scans the cells whose centers are
    nearest. :meth:`recall` measures the recall for other queries. It needs faiss.

    Args:
        embeddings: Gallery, (items, dimension).
        cells: Number of cells, by default 2√n, or the :class:`Cells` of the same gallery.
        probes: Number of cells that are searched; by default about the fewest whose recall@10 is at
            least ``recall`` on a sample of the gallery.
        recall: Recall by which the probes are chosen, in (0, 1].
        seed: Seed of k-means and of the sample.

    Example:
        >>> import torch
        >>> from rankwise.retrieval import ApproximateSearch
        >>> search = ApproximateSearch(torch.eye(8), cells=2, probes=2)
        >>> search.search(torch.eye(8)[:1], k=1).rows
        array([[0]])
    """

    def __init__(
        self,
        embeddings: object,
        *,
        cells: int | Cells | None = None,
        probes: int | None = None,
        recall: float = 0.95,
        seed: int = 0,
    ) -> None:
        require("rankwise.retrieval", "faiss")
        import faiss  # noqa: PLC0415  (an extra)

        self._faiss = faiss
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
    def search(self, queries: object, k: int = 10) -> Nearest:
        """Return the ``k`` nearest items that were found for every query, best first."""
        require_count("k", k)
        return self._found(asked_of(queries, self._gallery.shape[1]), k)

    @torch.no_grad()
    def recall(
        self, queries: object = None, *, k: int = 10, sample: int = 1000, seed: int = 1
    ) -> Recall:
        """Measure the share of the exact nearest ``k`` that is found.

        It uses at most ``sample`` of the queries, drawn by ``seed``, or items of the gallery, each
        without itself. An item that ties with the last of the k counts as found.
        """
        require_count("k", k)
        require_count("sample", sample)
        asked = self._gallery if queries is None else asked_of(queries, self._gallery.shape[1])
        rows = _drawn(len(asked), sample, seed)
        shares = self._shares(asked[rows], k, rows if queries is None else None)()
        error = float(shares.std(ddof=1)) / math.sqrt(len(shares)) if len(shares) > 1 else math.nan
        return Recall(k, float(shares.mean()), error, len(shares))

    def _shares(
        self, asked: Tensor, k: int, own: Tensor | None
    ) -> Callable[[], NDArray[np.float64]]:
        """Return a function that searches, and gives the share found of the exact nearest ``k``.

        ``own`` says where the queries stand in the gallery: they are not to find themselves.
        """
        more = k if own is None else k + 1
        scores = _without(best_first(self._gallery, asked, more), own)[:, :k]
        there = np.isfinite(scores)
        last = np.where(there, scores, np.inf).min(1, keepdims=True)
        wanted = there.sum(1)  # k, or as many as there are

        def shares() -> NDArray[np.float64]:
            found = _without(self._found(asked, more), own)[:, :k]
            right = (found >= last - _EQUAL).sum(1) / np.maximum(1, wanted)
            return np.where(wanted == 0, 1.0, np.minimum(right, 1))

        return shares

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
        self.cells = replace(self.cells, probes=probes)

    def _choose(self, recall: float, seed: int) -> None:
        rows = _drawn(len(self._gallery), _SAMPLE, seed)
        shares = self._shares(self._gallery[rows], 10, rows)

        def reaches(probes: int) -> bool:
            self._probe(probes)
            return float(shares().mean()) >= recall

        few, enough = 0, 1
        while enough < len(self.cells.centers) and not reaches(enough):
            few, enough = enough, 2 * enough
        enough = min(enough, len(self.cells.centers))
        while enough - few > max(1, enough // 8):  # to an eighth: recall is of a sample anyway
            middle = (few + enough) // 2
            few, enough = (few, middle) if reaches(middle) else (middle, enough)
        self._probe(enough)


def _drawn(items: int, sample: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randperm(items, generator=generator)[:sample]


def _without(found: Nearest, own: Tensor | None) -> NDArray[np.float32]:
    """Return scores without the query itself, best first."""
    if own is None:
        return found.scores
    scores = np.where(found.rows == own.numpy()[:, None], -np.inf, found.scores)
    return -np.sort(-scores, axis=1)
