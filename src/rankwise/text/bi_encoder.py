"""A ranking objective as the loss of a bi-encoder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.losses.gradcache import CachedLossMixin
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankwise.checks import require_count, require_positive
from rankwise.distributed import AcrossProcesses, gather_with_gradient
from rankwise.metrics.gather import is_distributed
from rankwise.objectives import Objective
from rankwise.text._lists import ranked, require_objective
from rankwise.text.collection import TextCollection, look_up


class _Batch(NamedTuple):
    """What is known of the queries and documents of a batch, besides their embeddings."""

    queries: Tensor  # ids, (queries,)
    process: Tensor  # rank of the process that has them, (queries,)
    documents: Tensor  # ids, or those of the queries that they belong to, (documents,)
    grades: Tensor  # to the query that a document belongs to, (documents,); without a collection


class BiEncoderLoss(CachedLossMixin, nn.Module):
    """Loss of :class:`SentenceTransformerTrainer`: each query ranks all documents of the batch.

    The first column of a row is the query and the others are documents. The score of a document is
    ``scale`` times the cosine of the two embeddings, and the objective is the mean over queries.
    Under ``torch.distributed`` a query ranks the documents of all processes, and the value, the
    gradient and the memory of the objective are those of one process.

    - Without labels, the first document of a row is relevant to its query, the others are not, and
      neither is a document of another row. A text that occurs twice in a batch is then a false
      negative: use ``batch_sampler="no_duplicates"``.
    - With labels, they are the grades of the documents of a row, shape (rows, documents), or
      (rows,) for one document.
    - With a ``collection``, labels are rows of it: of the query and of each document, shape
      (rows, 1 + documents), as :meth:`TextCollection.pairs` writes them. Then every relevant
      document of the batch is known as such, whichever row it comes from, and a query or document
      that occurs twice counts once. Objectives with a memory by list (``num_lists`` is the number
      of queries) or by item (``num_items`` is ``collection.num_pairs``) get their ids.

    A graded objective, such as :class:`~rankwise.objectives.NDCG`, uses the grades; others count
    every grade above 0 as relevant. The checkpoints of the trainer have the model and not the loss:
    where training is to be resumed, save the ``state_dict()`` of an objective with a memory.

    Args:
        model: Bi-encoder to train.
        objective: Objective of lists, such as ``AveragePrecision(outer="log")``.
        collection: Queries, documents and relevance that the labels point to.
        scale: Factor of the cosines, 1/temperature.
        mini_batch_size: Number of texts in a forward pass. If given, gradients are cached: the
            memory is that of one mini-batch and the cost one more forward pass, and the value and
            the gradient stay those of the whole batch.

    Example:
        >>> from rankwise.objectives import ListNet
        >>> from rankwise.text import BiEncoderLoss
        >>> from sentence_transformers import SentenceTransformer
        >>> from sentence_transformers.sentence_transformer.modules import BoW
        >>> model = SentenceTransformer(modules=[BoW(["cat", "dog", "red"])], device="cpu")
        >>> loss = BiEncoderLoss(model, ListNet("uniform"), scale=1.0)
        >>> columns = ["cat", "dog"], ["red cat", "red dog"]  # queries, documents
        >>> value = loss([model.preprocess(texts) for texts in columns])
        >>> round(value.item(), 3)  # cosines √½ and 0: log(1 + e^−√½)
        0.401

    Reference:
        Gao et al. 2021, "Scaling deep contrastive learning batch size under memory limited setup",
        for cached gradients.
    """

    pair_keys: Tensor
    pair_grades: Tensor

    def __init__(
        self,
        model: SentenceTransformer,
        objective: Objective,
        *,
        collection: TextCollection | None = None,
        scale: float = 20.0,
        mini_batch_size: int | None = None,
    ) -> None:
        super().__init__()
        require_objective(objective)
        require_positive("scale", scale)
        if mini_batch_size is not None:
            require_count("mini_batch_size", mini_batch_size)
        self.model = model
        self.memory_by = objective.memory_by
        self.objective = AcrossProcesses(objective)
        self.scale = scale
        self.mini_batch_size = mini_batch_size  # type: ignore[assignment]  # None: not cached
        self.uses_gradient_cache = mini_batch_size is not None
        self.num_documents = None if collection is None else len(collection.documents)
        self.num_queries = None if collection is None else len(collection.queries)
        # Not in the state of the loss: they are data.
        keys, grades = (
            (None, None) if collection is None else (collection.pair_keys, collection.pair_grades)
        )
        self.register_buffer("pair_keys", keys, persistent=False)
        self.register_buffer("pair_grades", grades, persistent=False)

    def forward(
        self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch, as the trainer calls it.

        Args:
            sentence_features: Preprocessed columns: queries, then documents.
            labels: None, grades, or rows of the collection; see the class.
        """
        features = list(sentence_features)
        if len(features) < 2:
            raise ValueError(
                f"sentence_features must have a column of queries and one or more of documents, "
                f"got {len(features)} columns"
            )
        if self.uses_gradient_cache:
            if any("offsets" in column for column in features):
                raise ValueError(
                    "mini_batch_size cannot cut the texts of a StaticEmbedding, which are one flat "
                    "tensor; leave it out, such a model needs little memory"
                )
            loss: Tensor = self.forward_cached(features, labels)
            return loss
        return self.calculate_loss(
            [[self.model(column)["sentence_embedding"]] for column in features], labels
        )

    def calculate_loss(
        self, reps: list[list[Tensor]], labels: Tensor | None = None, *, with_backward: bool = False
    ) -> Tensor:
        """Compute the loss from the embeddings of the mini-batches of every column."""
        columns = [torch.cat(column) for column in reps]
        with torch.autocast(columns[0].device.type, enabled=False):
            loss = self._loss(unit(columns[0]), unit(torch.cat(columns[1:])), labels)
        if with_backward:
            loss.backward()
            loss = loss.detach()
        return loss

    def get_config_dict(self) -> dict[str, Any]:
        """Return the options that a model card shows."""
        return {
            "objective": repr(self.objective.objective),
            "scale": self.scale,
            "mini_batch_size": self.mini_batch_size,
        }

    def _loss(self, queries: Tensor, documents: Tensor, labels: Tensor | None) -> Tensor:
        batch = self._read(len(queries), len(documents) // len(queries), labels, queries.device)
        documents = gather_with_gradient(documents, shared=True)
        everywhere = _Batch(*map(gather_with_gradient, batch))
        arguments: dict[str, Tensor] = {}
        if self.num_documents is None:
            own = batch.queries.unsqueeze(1) == everywhere.documents
            grades = everywhere.grades * own
        else:
            # The first of equal texts stands for all of them.
            alone = first_of_each(everywhere.documents)
            documents, document_rows = documents[alone], everywhere.documents[alone]
            mine = first_of_each(everywhere.queries)[everywhere.process == _rank()]
            queries, query_rows = queries[mine], batch.queries[mine]
            keys = query_rows.unsqueeze(1) * self.num_documents + document_rows
            grades, pairs = look_up(self.pair_keys, self.pair_grades, keys)
            if self.memory_by == "list":
                arguments["list_ids"] = query_rows
            elif self.memory_by == "item":
                arguments["item_ids"] = pairs
        scores = self.scale * (queries @ documents.T)
        return ranked(self.objective, scores, grades, **arguments)

    def _read(self, rows: int, columns: int, labels: Tensor | None, device: torch.device) -> _Batch:
        """Return ids and grades of the documents, column after column as they are embedded."""
        process = torch.full((rows,), _rank(), device=device)
        if self.num_documents is None:
            if labels is None:
                grades = torch.zeros(rows, columns, device=device)
                grades[:, 0] = 1
            else:
                grades = _grades(labels.to(device), rows, columns)
            queries = torch.arange(rows, device=device) + (_rank() << 32)  # apart from all others
            return _Batch(queries, process, queries.repeat(columns), grades.T.reshape(-1))
        if labels is None or labels.shape != (rows, 1 + columns) or labels.is_floating_point():
            received = "none" if labels is None else f"{labels.dtype} of {tuple(labels.shape)}"
            raise ValueError(
                f"labels must be the rows of the collection, whole numbers of shape "
                f"({rows}, {1 + columns}), got {received}; TextCollection.pairs writes them"
            )
        labels = labels.to(device)
        most = torch.tensor([self.num_queries, *[self.num_documents] * columns], device=device)
        if bool(((labels < 0) | (labels >= most)).any()):
            raise ValueError(
                f"labels must be rows of the collection, which has {self.num_queries} queries and "
                f"{self.num_documents} documents, got up to {labels.amax(0).tolist()}"
            )
        unused = torch.zeros(rows * columns, device=device)
        return _Batch(labels[:, 0], process, labels[:, 1:].T.reshape(-1), unused)


def _rank() -> int:
    return torch.distributed.get_rank() if is_distributed() else 0


def unit(embeddings: Tensor) -> Tensor:
    """Return embeddings of length 1, in single precision or better."""
    return normalize(embeddings.to(torch.promote_types(embeddings.dtype, torch.float32)), dim=-1)


def first_of_each(ids: Tensor) -> Tensor:
    """Return where each id occurs for the first time."""
    found, which = ids.unique(return_inverse=True)
    places = torch.arange(len(ids), device=ids.device)
    first = places.new_full((len(found),), len(ids)).scatter_reduce(0, which, places, "amin")
    return first[which] == places


def _grades(labels: Tensor, rows: int, columns: int) -> Tensor:
    if labels.shape == (rows,) and columns == 1:
        labels = labels.unsqueeze(1)
    if labels.shape != (rows, columns):
        raise ValueError(
            f"labels must be the grades of the documents of each row, shape ({rows}, {columns}), "
            f"got {tuple(labels.shape)}"
        )
    return labels.float()
