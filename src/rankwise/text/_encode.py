"""Embeddings of a collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor

from rankwise.text.collection import TextCollection


def encode_queries(model: SentenceTransformer, collection: TextCollection, batch: int) -> Tensor:
    """Return the embeddings of the queries, of length 1, on the CPU."""
    return _encoded(model.encode_query, collection.queries, batch)


def encode_documents(model: SentenceTransformer, collection: TextCollection, batch: int) -> Tensor:
    """Return the embeddings of the documents, of length 1, on the CPU."""
    return _encoded(model.encode_document, collection.documents, batch)


def _encoded(encode: Callable[..., Tensor], texts: Sequence[str], batch: int) -> Tensor:
    embeddings = encode(
        texts,
        batch_size=batch,
        convert_to_tensor=True,
        normalize_embeddings=True,
        show_progress_bar=False,
    )
    return embeddings.detach().to("cpu", torch.float32)
