"""Evaluators of sentence-transformers with the metrics of rankwise."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.base.evaluation import BaseEvaluator
from torch import Tensor

from rankwise.checks import require_count
from rankwise.metrics import Metric
from rankwise.naming import canonical_metric, metric
from rankwise.retrieval import nearest
from rankwise.text._encode import encode_documents, encode_queries
from rankwise.text.collection import TextCollection

METRICS = ("ap", "ndcg@10", "mrr@10", "recall@10", "recall@100")

_BLOCK = 1 << 23  # scores in one block, 32 MB


class _Evaluator(BaseEvaluator):
    def __init__(
        self, collection: TextCollection, metrics: Sequence[str], name: str, batch_size: int
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        if not metrics:
            raise ValueError("metrics must have the name of a metric, got none")
        require_count("batch_size", batch_size)
        self.collection, self.name, self.batch_size = collection, name, batch_size
        self.metrics = {canonical_metric(each): metric(each) for each in metrics}
        self.primary_metric = next(iter(self.metrics))

    def scores(self, model: object) -> Iterator[Tensor]:
        """Yield the scores of all documents for one block of queries after the other."""
        raise NotImplementedError

    def values(self, model: object) -> dict[str, Tensor]:
        """Return every metric of every query, in the order of ``collection.queries``."""
        found: dict[str, list[Tensor]] = {name: [] for name in self.metrics}
        start, everything = 0, torch.arange(len(self.collection.documents))
        for scores in self.scores(model):
            rows = torch.arange(start, start + len(scores))
            grades = self.collection.relevance(rows, everything).grades
            for name, each in self.metrics.items():
                found[name].append(_values(each, scores, grades))
            start += len(scores)
        return {name: torch.cat(parts) for name, parts in found.items()}

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return the mean of every metric over the queries, by name."""
        means = {name: float(values.nanmean()) for name, values in self.values(model).items()}
        prefixed: dict[str, float] = self.prefix_name_to_metrics(means, self.name)
        self.store_metrics_in_model_card_data(model, prefixed, epoch, steps)
        return prefixed


class SearchEvaluator(_Evaluator):
    """Evaluator of a bi-encoder: each query ranks all documents of a collection by cosine.

    Every metric is exact over the whole collection, and a metric of two classes counts each grade
    above 0 as relevant. Documents with equal scores count as the mean over their orders (``ap``:
    all of them as above), never by the order of the input.

    Args:
        collection: Queries, documents and relevance.
        metrics: Names of metrics (docs/naming.md); the first is the one that a trainer selects by.
        name: Prefix of the names in the result.
        batch_size: Number of texts that are encoded at a time.

    Example:
        >>> from rankwise.text import SearchEvaluator, TextCollection
        >>> from sentence_transformers import SentenceTransformer
        >>> from sentence_transformers.sentence_transformer.modules import BoW
        >>> model = SentenceTransformer(modules=[BoW(["cat", "dog", "red"])], device="cpu")
        >>> documents = {"a": "red red dog", "b": "red cat", "c": "red dog"}
        >>> collection = TextCollection({"q": "dog"}, documents, {"q": {"a": 1}})
        >>> SearchEvaluator(collection, ["ap", "recall@1"])(model)  # "red dog" is nearer
        {'ap': 0.5, 'recall@1': 0.0}
    """

    def __init__(
        self,
        collection: TextCollection,
        metrics: Sequence[str] = METRICS,
        *,
        name: str = "",
        batch_size: int = 32,
    ) -> None:
        super().__init__(collection, metrics, name, batch_size)

    def scores(self, model: SentenceTransformer) -> Iterator[Tensor]:  # type: ignore[override]
        """Yield the cosines of all documents for one block of queries after the other."""
        queries = encode_queries(model, self.collection, self.batch_size)
        documents = encode_documents(model, self.collection, self.batch_size)
        for block in queries.split(max(1, _BLOCK // len(documents))):
            yield block @ documents.T


class RerankingEvaluator(_Evaluator):
    """Evaluator of a cross-encoder: it ranks the first ``k`` documents of a bi-encoder anew.

    The ranking of a query is what a search with both returns: the first ``k`` documents in the
    order of the cross-encoder, then the others in the order of the bi-encoder. A relevant document
    that the bi-encoder ranks below ``k`` therefore stays there.

    Args:
        collection: Queries, documents and relevance.
        encoder: Bi-encoder of the first stage. It is used once, when the evaluator is made.
        metrics: Names of metrics (docs/naming.md); the first is the one that a trainer selects by.
        k: Number of documents that are ranked anew.
        name: Prefix of the names in the result.
        batch_size: Number of texts or pairs that are encoded at a time.

    Example:
        >>> from rankwise.text import RerankingEvaluator, TextCollection
        >>> from sentence_transformers import SentenceTransformer
        >>> from sentence_transformers.sentence_transformer.modules import BoW
        >>> encoder = SentenceTransformer(modules=[BoW(["cat", "dog", "red"])], device="cpu")
        >>> documents = {"a": "red dog", "b": "cat", "c": "dog"}
        >>> collection = TextCollection({"q": "dog"}, documents, {"q": {"a": 1}})
        >>> RerankingEvaluator(collection, encoder, k=2).candidates.rows
        array([[2, 0]])
    """

    def __init__(
        self,
        collection: TextCollection,
        encoder: SentenceTransformer,
        metrics: Sequence[str] = METRICS,
        *,
        k: int = 100,
        name: str = "",
        batch_size: int = 32,
    ) -> None:
        super().__init__(collection, metrics, name, batch_size)
        require_count("k", k)
        self._queries = encode_queries(encoder, collection, batch_size)
        self._documents = encode_documents(encoder, collection, batch_size)
        self.candidates = nearest(self._documents, self._queries, min(k, len(collection.documents)))

    def scores(self, model: CrossEncoder) -> Iterator[Tensor]:  # type: ignore[override]
        """Yield scores in the order of the search, for one block of queries after the other."""
        rows = torch.from_numpy(self.candidates.rows)
        for block in torch.arange(len(rows)).split(max(1, _BLOCK // len(self._documents))):
            pairs = [
                (self.collection.queries[query], self.collection.documents[row])
                for query in block.tolist()
                for row in rows[query].tolist()
            ]
            found = model.predict(
                pairs,
                batch_size=self.batch_size,
                activation_fn=torch.nn.Identity(),  # a sigmoid would round high scores to 1
                convert_to_tensor=True,
                show_progress_bar=False,
            )
            cosines = self._queries[block] @ self._documents.T
            yield cosines.scatter(1, rows[block], _above(found.cpu().reshape(len(block), -1)))


def _above(scores: Tensor) -> Tensor:
    """Return whole numbers from 2 on in the order of the scores of a row, above any cosine."""
    if bool(scores.isnan().any()):
        raise ValueError("the model returned NaN scores; look for an overflow in the model")
    ordered, order = scores.double().sort(1)
    steps = (ordered.diff(dim=1) > 0).long().cumsum(1)
    levels = torch.nn.functional.pad(steps, (1, 0))  # equal scores stay equal
    return 2 + torch.zeros_like(levels).scatter(1, order, levels).float()


def _values(each: Metric, scores: Tensor, grades: Tensor) -> Tensor:
    # As in trec_eval, a query whose documents are all relevant has a value, too.
    setting = replace(each.setting, average="none", positives_alone=True)
    target = grades if setting.kernel.graded else (grades > 0).float()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return setting(scores, target)
