"""Queries, documents and the relevance of documents to queries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.retrieval import Nearest

QueryId = TypeVar("QueryId")
DocumentId = TypeVar("DocumentId")
Columns = dict[str, list[object]]


class Relevance(NamedTuple):
    """Relevance of some documents to some queries, both of shape (queries, documents)."""

    grades: Tensor  # 0 where a document is not relevant
    pairs: Tensor  # which relevant pair of the collection it is, 0 where it is none


class TextCollection:
    """Queries, documents and relevance judgments (qrels), as all of :mod:`rankwise.text` uses them.

    Queries and documents are numbered by their position: rows. A query without a relevant document
    is left out, so a split of the queries is a split of ``qrels``, with the same ``queries`` and
    ``documents``.

    Args:
        queries: Text of each query, by id.
        documents: Text of each document, by id.
        qrels: Relevance of documents by query id and document id. Grades above 0 are relevant;
            a pair that is not listed, or has a grade of 0 or below, is not.

    Attributes:
        queries: Texts of the queries with a relevant document.
        query_ids: Their ids.
        documents: Texts of the documents.
        document_ids: Their ids.
        num_pairs: Number of relevant pairs.
        prior: Share of relevant documents in the list of a query, the mean over queries.

    Raises:
        ValueError: If ``qrels`` has an unknown id, a grade that is not finite, or nothing relevant.

    Example:
        >>> from rankwise.text import TextCollection
        >>> queries = {"q1": "red fruit", "q2": "fast animal"}
        >>> documents = {"d1": "an apple", "d2": "a cherry", "d3": "a horse", "d4": "a stone"}
        >>> qrels = {"q1": {"d1": 1, "d2": 2}, "q2": {"d3": 1}}
        >>> collection = TextCollection(queries, documents, qrels)
        >>> collection.num_pairs, collection.prior  # (2/4 + 1/4)/2
        (3, 0.375)
        >>> collection.pairs()["label"]  # the rows of query and document
        [[0, 0], [0, 1], [1, 2]]
    """

    def __init__(
        self,
        queries: Mapping[QueryId, str],
        documents: Mapping[DocumentId, str],
        qrels: Mapping[QueryId, Mapping[DocumentId, float]],
    ) -> None:
        self.document_ids: list[Any] = list(documents)
        self.documents = list(documents.values())
        place = {name: row for row, name in enumerate(self.document_ids)}
        self.query_ids: list[Any] = []
        rows: list[int] = []
        found: list[int] = []
        grades: list[float] = []
        for query, listed in qrels.items():
            _check(query, queries, listed, place)
            relevant = {document: grade for document, grade in listed.items() if grade > 0}
            if not relevant:
                continue
            rows += [len(self.query_ids)] * len(relevant)
            found += [place[document] for document in relevant]
            grades += [float(grade) for grade in relevant.values()]
            self.query_ids.append(query)
        if not rows:
            raise ValueError("qrels must have a document with a grade above 0, got none")
        self.queries = [queries[name] for name in self.query_ids]
        keys = np.array(rows, np.int64) * len(self.documents) + np.array(found, np.int64)
        order = np.argsort(keys)
        self.pair_keys = torch.from_numpy(keys[order])
        self.pair_grades = torch.tensor(grades)[torch.from_numpy(order)]

    @property
    def num_pairs(self) -> int:
        """Number of relevant pairs of a query and a document."""
        return len(self.pair_keys)

    @property
    def prior(self) -> float:
        """Share of relevant documents in the list of a query, the mean over queries."""
        return self.num_pairs / (len(self.queries) * len(self.documents))

    @property
    def pair_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of the queries and documents of all relevant pairs, in ascending order."""
        keys = self.pair_keys.numpy()
        return keys // len(self.documents), keys % len(self.documents)

    def pairs(self, negatives: Nearest | None = None) -> Columns:
        """Return the columns of a data set to train a bi-encoder: one row per relevant pair.

        Args:
            negatives: Documents of each query that are not relevant, from :func:`hard_negatives`.
                Pairs of a query with fewer negatives than asked for are left out.

        Returns:
            ``query``, ``document``, ``negative_1``, …, and ``label``: the rows of the query and of
            all documents, as :class:`BiEncoderLoss` with this collection reads them.
        """
        query_rows, document_rows = self.pair_rows
        rows = np.stack([query_rows, document_rows], 1)
        if negatives is not None:
            self._check_negatives(negatives)
            rows = np.concatenate([rows, negatives.rows[query_rows]], 1)
            rows = rows[(rows >= 0).all(1)]
        columns: Columns = {"query": [self.queries[row] for row in rows[:, 0]]}
        names = ["document", *(f"negative_{n}" for n in range(1, rows.shape[1] - 1))]
        for name, column in zip(names, rows.T[1:], strict=True):
            columns[name] = [self.documents[row] for row in column]
        return {**columns, "label": rows.tolist()}

    def lists(self, negatives: Nearest) -> Columns:
        """Return the columns of a data set to train a cross-encoder: one row per query.

        Args:
            negatives: Documents of each query that are not relevant, from :func:`hard_negatives`.
                A query without any is left out.

        Returns:
            ``query``, ``documents`` (relevant ones first) and ``labels``: their grades.
        """
        self._check_negatives(negatives)
        query_rows, document_rows = self.pair_rows
        starts = np.searchsorted(query_rows, np.arange(len(self.queries) + 1))
        grades = self.pair_grades.tolist()
        columns: Columns = {"query": [], "documents": [], "labels": []}
        for row, text in enumerate(self.queries):
            pairs = slice(starts[row], starts[row + 1])
            others = [other for other in negatives.rows[row] if other >= 0]
            if others:
                columns["query"].append(text)
                columns["documents"].append(
                    [self.documents[place] for place in (*document_rows[pairs], *others)]
                )
                columns["labels"].append([*grades[pairs], *[0.0] * len(others)])
        return columns

    def relevance(self, query_rows: Tensor, document_rows: Tensor) -> Relevance:
        """Return the grades of documents to queries, of shape (queries, documents).

        Args:
            query_rows: Rows of the queries, shape (queries,) or (queries, 1).
            document_rows: Rows of the documents, shape (documents,) or (queries, documents).
        """
        return look_up(
            self.pair_keys,
            self.pair_grades,
            query_rows.reshape(-1, 1) * len(self.documents) + document_rows,
        )

    def _check_negatives(self, negatives: Nearest) -> None:
        if len(negatives.rows) != len(self.queries):
            raise ValueError(
                f"negatives must have one row for each of the {len(self.queries)} queries, "
                f"got {len(negatives.rows)}; mine them with this collection"
            )


def look_up(pair_keys: Tensor, pair_grades: Tensor, keys: Tensor) -> Relevance:
    """Return the relevance of pairs by their keys, from the sorted keys of the relevant ones."""
    places = torch.searchsorted(pair_keys, keys).clamp_(max=len(pair_keys) - 1)
    relevant = pair_keys[places] == keys
    return Relevance(pair_grades[places] * relevant, places * relevant)


def _check(
    query: object,
    queries: Mapping[QueryId, str],
    listed: Mapping[DocumentId, float],
    place: Mapping[DocumentId, int],
) -> None:
    if query not in queries:
        raise ValueError(f"qrels must name queries that are given, got {query!r}")
    for document, grade in listed.items():
        if document not in place:
            raise ValueError(
                f"qrels must name documents that are given, got {document!r} for query {query!r}"
            )
        if not math.isfinite(grade):
            raise ValueError(
                f"qrels must have finite grades, got {grade!r} for document {document!r} of "
                f"query {query!r}"
            )
