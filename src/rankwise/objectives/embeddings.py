"""Embeddings as lists: every item of a batch is a query that ranks the others."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from rankwise.objectives.hierarchy import shared_levels, tree_relevance


class EmbeddingScores(NamedTuple):
    """Arguments of an objective, one list for every query: ``loss(scores, target, mask=mask)``.

    Attributes:
        scores: Similarities, shape (queries, gallery).
        target: True for items of the class of the query; with labels of several levels, relevances.
        mask: False for the query itself.

    Example:
        >>> import torch
        >>> from rankwise.objectives import embedding_scores
        >>> embedding_scores(torch.eye(2), torch.tensor([0, 0])).mask
        tensor([[False,  True],
                [ True, False]])
    """

    scores: Tensor  # (queries, gallery) similarities
    target: Tensor  # of the same class? or its relevance
    mask: Tensor  # False for the query itself


def embedding_scores(
    embeddings: Tensor,
    labels: Tensor,
    gallery: Tensor | None = None,
    gallery_labels: Tensor | None = None,
    *,
    normalize: bool = True,
    alpha: float = 1.0,
) -> EmbeddingScores:
    """Compute the similarities of every embedding of a batch with the rest and with a gallery.

    Every item of the batch is a query, which is masked in its own list. With a gallery (other
    items, a memory of earlier batches) the items of the batch come first, then the gallery.

    Args:
        embeddings: Shape (queries, dimension).
        labels: Class of each embedding, shape (queries,); or its classes on the levels of a tree,
            the coarsest first, shape (queries, levels), for graded objectives such as
            :class:`HierarchicalAP`.
        gallery: More embeddings to rank, shape (n, dimension).
        gallery_labels: Class of each of them, shape (n,), or (n, levels).
        normalize: Whether to use cosines; else inner products.
        alpha: How fast relevances fall with the distance in the tree, see :func:`tree_relevance`.

    Returns:
        Scores, target and mask, each of shape (queries, queries + n).

    Raises:
        ValueError: If shapes do not fit, or one of ``gallery`` and ``gallery_labels`` is missing.

    Example:
        >>> import torch
        >>> from rankwise.objectives import PairwiseAUC, embedding_scores
        >>> embeddings = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> lists = embedding_scores(embeddings, torch.tensor([3, 3, 8]))
        >>> lists.scores[0], lists.target[0]
        (tensor([1., 1., 0.]), tensor([ True,  True, False]))
        >>> PairwiseAUC()(lists.scores, lists.target, mask=lists.mask)
        tensor(0.)
    """
    _check("embeddings", embeddings, "labels", labels)
    if (gallery is None) != (gallery_labels is None):
        raise ValueError("gallery and gallery_labels go together, got only one of them")
    embeddings = normalized(embeddings, normalize)
    ranked, ranked_labels = embeddings, labels
    if gallery is not None and gallery_labels is not None:
        _check("gallery", gallery, "gallery_labels", gallery_labels)
        ranked = torch.cat([embeddings, normalized(gallery, normalize).to(embeddings.dtype)])
        ranked_labels = torch.cat([labels, gallery_labels])
    mask = torch.ones(len(embeddings), len(ranked), dtype=torch.bool, device=embeddings.device)
    mask.fill_diagonal_(False)
    if labels.dim() == 2:
        levels = shared_levels(labels, ranked_labels)
        target = tree_relevance(levels, labels.shape[1], alpha=alpha, mask=mask)
    else:
        target = labels.unsqueeze(1) == ranked_labels
    return EmbeddingScores(embeddings @ ranked.T, target, mask)


def normalized(embeddings: Tensor, normalize: bool) -> Tensor:
    """Return embeddings of length 1 where they are asked for."""
    if not normalize:
        return embeddings
    # The least length that normalize divides by is 0 in half precision.
    wide = embeddings.to(torch.promote_types(embeddings.dtype, torch.float32))
    return torch.nn.functional.normalize(wide, dim=-1).to(embeddings.dtype)


def require_matrix(name: str, embeddings: Tensor) -> None:
    """Raise on embeddings that are not one row for every item."""
    if embeddings.dim() != 2:
        raise ValueError(
            f"{name} must have shape (items, dimension), got {tuple(embeddings.shape)}"
        )


def _check(name: str, embeddings: Tensor, labels_name: str, labels: Tensor) -> None:
    require_matrix(name, embeddings)
    if labels.dim() not in (1, 2) or len(labels) != len(embeddings):
        raise ValueError(
            f"{labels_name} must have one class per item, shape ({len(embeddings)},) or "
            f"({len(embeddings)}, levels), got {tuple(labels.shape)}"
        )
