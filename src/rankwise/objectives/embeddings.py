"""Embeddings as lists: every item of a batch is a query that ranks the others."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["EmbeddingScores", "embedding_scores"]


class EmbeddingScores(NamedTuple):
    """Arguments of an objective: ``loss(scores, target, mask=mask)``."""

    scores: Tensor  # (queries, gallery) similarities
    target: Tensor  # of the same class?
    mask: Tensor  # False for the query itself


def embedding_scores(
    embeddings: Tensor,
    labels: Tensor,
    gallery: Tensor | None = None,
    gallery_labels: Tensor | None = None,
    *,
    normalize: bool = True,
) -> EmbeddingScores:
    """Cosine similarities of every embedding with the others, or with a ``gallery`` beside them.

    Without a gallery the batch is ranked against itself and the query is left out. With one (other
    items, a memory of earlier batches) the batch's own items come first, then the gallery.
    ``normalize=False`` takes inner products as they are.
    """
    _check("embeddings", embeddings, "labels", labels)
    if (gallery is None) != (gallery_labels is None):
        raise ValueError("gallery and gallery_labels go together, got only one of them")
    if normalize:
        embeddings = torch.nn.functional.normalize(embeddings, dim=-1)
    ranked, ranked_labels = embeddings, labels
    if gallery is not None and gallery_labels is not None:
        _check("gallery", gallery, "gallery_labels", gallery_labels)
        if normalize:
            gallery = torch.nn.functional.normalize(gallery, dim=-1)
        ranked = torch.cat([embeddings, gallery.to(embeddings.dtype)])
        ranked_labels = torch.cat([labels, gallery_labels])
    mask = torch.ones(len(embeddings), len(ranked), dtype=torch.bool, device=embeddings.device)
    mask.fill_diagonal_(False)
    target = labels.unsqueeze(1) == ranked_labels
    return EmbeddingScores(embeddings @ ranked.T, target, mask)


def _check(name: str, embeddings: Tensor, labels_name: str, labels: Tensor) -> None:
    if embeddings.dim() != 2:
        raise ValueError(
            f"{name} must have shape (items, dimension), got {tuple(embeddings.shape)}"
        )
    if labels.shape != embeddings.shape[:1]:
        raise ValueError(
            f"{labels_name} must have one class per item, shape ({len(embeddings)},), "
            f"got {tuple(labels.shape)}"
        )
