"""Embeddings of a collection."""

from __future__ import annotations

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor

from rankwise.text.collection import TextCollection


def encode_queries(model: SentenceTransformer, collection: TextCollection, batch: int) -> Tensor:
    """Return the embeddings of the queries, of length 1, on the CPU."""
    return _on_cpu(
        model.encode_query(
            collection.queries,
            batch_size=batch,
            convert_to_tensor=True,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
    )


def encode_documents(model: SentenceTransformer, collection: TextCollection, batch: int) -> Tensor:
    """Return the embeddings of the documents, of length 1, on the CPU."""
    return _on_cpu(
        model.encode_document(
            collection.documents,
            batch_size=batch,
            convert_to_tensor=True,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
    )


def _on_cpu(embeddings: Tensor) -> Tensor:
    return embeddings.detach().to("cpu", torch.float32)
