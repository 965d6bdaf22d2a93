"""Hard negatives: documents that an encoder ranks high for a query they are not relevant to."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from rankwise.checks import require_count, require_number, require_one_of
from rankwise.retrieval import ApproximateSearch, Nearest, nearest
from rankwise.text._encode import encode_documents, encode_queries
from rankwise.text.collection import TextCollection

_SPARE = 10  # candidates per negative where a threshold may reject some


def hard_negatives(
    model: SentenceTransformer,
    collection: TextCollection,
    *,
    num_negatives: int = 3,
    range_min: int = 0,
    range_max: int | None = None,
    max_score: float | None = None,
    absolute_margin: float | None = None,
    relative_margin: float | None = None,
    sampling: Literal["top", "random"] = "top",
    search: Literal["exact", "approximate"] = "exact",
    batch_size: int = 32,
    seed: int = 0,
) -> Nearest:
    """Find documents that are near a query without being relevant to it.

    The documents of the collection are searched with each query. Relevant documents, documents with
    the text of one, and those beyond a threshold are left out; what remains are the candidates. The
    thresholds skip documents that are probably relevant though ``qrels`` does not list them.
    Options have the names and meaning of ``sentence_transformers.util.mine_hard_negatives``.

    Args:
        model: Encoder of queries and documents.
        collection: Queries, documents and relevance.
        num_negatives: Number of negatives of each query.
        range_min: Number of best candidates to skip.
        range_max: Number of documents that are searched besides the relevant ones; by default
            ``range_min + num_negatives``, and with a threshold ``range_min + 10 · num_negatives``.
        max_score: Largest cosine of a negative.
        absolute_margin: Least difference to the cosine of the query's lowest relevant document.
        relative_margin: The same difference as a share of that cosine's magnitude. With 0.05 a
            negative has at most 95 % of a positive cosine.
        sampling: ``"top"`` takes the best candidates, ``"random"`` draws from all of them.
        search: ``"exact"`` or ``"approximate"`` (:class:`~rankwise.retrieval.ApproximateSearch`,
            which needs faiss), for millions of documents.
        batch_size: Number of texts that are encoded at a time.
        seed: Seed of random sampling and of the approximate search.

    Returns:
        Cosines and rows of the documents, (queries, num_negatives), best first; row −1 and score
        −∞ where there are no more. :meth:`TextCollection.pairs` and :meth:`TextCollection.lists`
        make the columns of a data set of them.

    Example:
        >>> from rankwise.text import TextCollection, hard_negatives
        >>> from sentence_transformers import SentenceTransformer
        >>> from sentence_transformers.sentence_transformer.modules import BoW
        >>> words = ["red", "green", "apple", "leaf"]
        >>> model = SentenceTransformer(modules=[BoW(words)], device="cpu")
        >>> documents = {"a": "red apple", "b": "green apple", "c": "green leaf"}
        >>> collection = TextCollection({"q": "red apple"}, documents, {"q": {"a": 1}})
        >>> hard_negatives(model, collection, num_negatives=1).rows  # "green apple"
        array([[1]])

    Reference:
        Moreira et al. 2024, "NV-Retriever: Improving text embedding models with effective
        hard-negative mining", for the margins.
    """
    require_count("num_negatives", num_negatives)
    require_count("range_min", range_min, minimum=0)
    require_one_of("sampling", sampling, ("top", "random"))
    require_one_of("search", search, ("exact", "approximate"))
    thresholds = (max_score, absolute_margin, relative_margin)
    for name, value in zip(
        ("max_score", "absolute_margin", "relative_margin"), thresholds, strict=True
    ):
        if value is not None:
            require_number(name, value)
    if range_max is None:
        spare = 1 if thresholds == (None, None, None) else _SPARE
        range_max = range_min + spare * num_negatives
    if range_max < range_min + num_negatives:
        raise ValueError(
            f"range_max must be at least range_min + num_negatives = {range_min + num_negatives}, "
            f"got {range_max}"
        )
    queries = encode_queries(model, collection, batch_size)
    documents = encode_documents(model, collection, batch_size)
    relevant = _Relevant(collection)
    k = range_max + relevant.most
    if search == "exact":
        found = nearest(documents, queries, k)
    else:
        found = ApproximateSearch(documents, seed=seed).search(queries, k)
    usable = (found.rows >= 0) & ~relevant.among(found.rows)
    query_rows, document_rows = collection.pair_rows
    cosines = (queries[query_rows] * documents[document_rows]).sum(1).numpy()
    lowest = np.full(len(queries), np.inf, np.float32)
    np.minimum.at(lowest, query_rows, cosines)
    if max_score is not None:
        usable &= found.scores <= max_score
    if absolute_margin is not None:
        usable &= found.scores <= (lowest - absolute_margin)[:, None]
    if relative_margin is not None:
        usable &= found.scores <= (lowest - relative_margin * abs(lowest))[:, None]
    rank = usable.cumsum(1) - 1
    usable &= (rank >= range_min) & (rank < range_max)
    return _chosen(found, usable, num_negatives, sampling, seed)


class _Relevant:
    """The relevant documents of every query, and documents with the same text as one."""

    def __init__(self, collection: TextCollection) -> None:
        first = {text: row for row, text in reversed(list(enumerate(collection.documents)))}
        self.same = np.array([first[text] for text in collection.documents])
        query_rows, document_rows = collection.pair_rows
        self.keys = np.unique(query_rows * len(self.same) + self.same[document_rows])
        copies = np.bincount(self.same)
        found = np.bincount(self.keys // len(self.same), copies[self.keys % len(self.same)])
        self.most = int(found.max())  # most documents that a search may have to skip

    def among(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the rows (queries, k) are relevant; −1 is not."""
        keys = np.arange(len(rows))[:, None] * len(self.same) + self.same[rows]
        return np.isin(keys, self.keys) & (rows >= 0)


def _chosen(
    found: Nearest, usable: NDArray[np.bool_], count: int, sampling: str, seed: int
) -> Nearest:
    order = np.broadcast_to(np.arange(usable.shape[1], dtype=np.float64), usable.shape)
    if sampling == "random":
        order = np.random.default_rng(seed).random(usable.shape)
    taken = np.argsort(np.where(usable, order, np.inf), axis=1, kind="stable")[:, :count]
    there = np.take_along_axis(usable, taken, axis=1)
    scores = np.where(there, np.take_along_axis(found.scores, taken, axis=1), -np.inf)
    rows = np.where(there, np.take_along_axis(found.rows, taken, axis=1), -1)
    best = np.argsort(-scores, axis=1, kind="stable")
    return Nearest(
        np.take_along_axis(scores, best, axis=1).astype(np.float32),
        np.take_along_axis(rows, best, axis=1),
    )
