"""Evaluation of embeddings whose labels have several levels, on the whole gallery."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.metrics import hierarchical_ap, ndcg
from rankwise.metrics._setting import Shared
from rankwise.objectives import shared_levels, tree_relevance
from rankwise.retrieval.search import asked_of, embeddings_of

_BLOCK = 1 << 22  # scores in one block


@dataclass(frozen=True)
class HierarchicalResult:
    """Means over the queries that share a level with at least one item of the gallery.

    Attributes:
        hierarchical_ap: Mean hierarchical average precision, H-AP.
        asi: Mean average set intersection.
        ndcg: Mean NDCG with the gain 2^l − 1 of l shared levels.
        values: H-AP by query, NaN where a query was left out.

    Example:
        >>> import torch
        >>> from rankwise.retrieval import evaluate_hierarchy
        >>> found = evaluate_hierarchy(torch.eye(2), torch.tensor([[0, 0], [0, 0]]))
        >>> found.ndcg, found.values.tolist()
        (1.0, [1.0, 1.0])
    """

    hierarchical_ap: float
    asi: float
    ndcg: float
    values: NDArray[np.float64]


@torch.no_grad()
def evaluate_hierarchy(
    embeddings: object,
    labels: Tensor,
    queries: object = None,
    query_labels: Tensor | None = None,
    *,
    alpha: float = 1.0,
) -> HierarchicalResult:
    """Compute H-AP, ASI and NDCG of every query against the whole gallery, by cosine.

    ASI is the mean over the ranks n up to the number of relevant items of the share of the first n
    that the best order has among its first n, level by level. Ties count against the ranking.

    Args:
        embeddings: Gallery, (items, dimension), a torch tensor or a numpy array.
        labels: Classes of each item on the levels of a tree, the coarsest first, (items, levels).
        queries: Queries, (queries, dimension). By default every item is a query in turn and is
            itself left out.
        query_labels: Classes of each query, (queries, levels).
        alpha: How fast relevances fall, see :func:`~rankwise.objectives.tree_relevance`.

    Returns:
        The means, and H-AP by query.

    Raises:
        ValueError: If shapes do not fit, or no query shares a level with an item.

    Example:
        >>> import torch
        >>> from rankwise.retrieval import evaluate_hierarchy
        >>> embeddings = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.7, 0.5], [0.0, 1.0]])
        >>> labels = torch.tensor([[0, 0], [0, 0], [0, 1], [1, 2]])  # super-class and class
        >>> found = evaluate_hierarchy(embeddings, labels)
        >>> found.hierarchical_ap, found.asi  # every query finds its class, then its super-class
        (1.0, 1.0)

    Reference:
        Ramzi et al. 2022, "Hierarchical average precision training for pertinent image retrieval";
        Sun et al. 2021, "Dynamic metric learning", for ASI.
    """
    if (queries is None) != (query_labels is None):
        raise ValueError("queries and query_labels must be given together, or neither")
    gallery = embeddings_of("embeddings", embeddings, True)
    asked = gallery if queries is None else asked_of(queries, gallery.shape[1], True)
    known = labels if query_labels is None else query_labels
    for name, given, items in (("labels", labels, gallery), ("query_labels", known, asked)):
        if given.dim() != 2 or len(given) != len(items):
            raise ValueError(
                f"{name} must have shape ({len(items)}, levels), got {tuple(given.shape)}"
            )
    depth = labels.shape[1]
    found = torch.full((3, len(asked)), torch.nan, dtype=torch.float64)
    for block in torch.arange(len(asked)).split(max(1, _BLOCK // max(1, len(gallery)))):
        mask = torch.ones(len(block), len(gallery), dtype=torch.bool)
        if queries is None:
            mask[torch.arange(len(block)), block] = False
        levels = shared_levels(known[block], labels).masked_fill(~mask, 0)
        some = (levels > 0).any(1)
        rows, mask, levels = block[some], mask[some], levels[some]
        if not len(rows):
            continue
        scores = asked[rows] @ gallery.T
        relevance = tree_relevance(levels, depth, alpha=alpha)
        shared: Shared[Tensor] = {"mask": mask, "ties": "against", "average": "none"}
        found[0, rows] = hierarchical_ap(scores, relevance, **shared)
        found[1, rows] = _set_intersection(scores.masked_fill(~mask, -torch.inf), levels, depth)
        found[2, rows] = ndcg(scores, levels, **shared)
    if bool(found.isnan().all()):
        raise ValueError("labels must have a class that two items share: there is nothing to find")
    h_ap, asi, gain = found.nanmean(1).tolist()
    return HierarchicalResult(h_ap, asi, gain, found[0].numpy())


def _set_intersection(scores: Tensor, levels: Tensor, depth: int) -> Tensor:
    """ASI of every row; of tied items the one that shares fewer levels comes first."""
    levels, order = levels.sort(dim=1, stable=True)
    order = scores.gather(1, order).argsort(dim=1, descending=True, stable=True)
    ranked = levels.gather(1, order)
    rank = torch.arange(1, ranked.shape[1] + 1)
    common = torch.zeros_like(ranked)
    better = torch.zeros(len(ranked), 1, dtype=torch.long)  # items of the levels above
    for level in range(depth, 0, -1):
        of_level = ranked == level
        best = (rank - better).clamp_min(0).minimum(of_level.sum(1, keepdim=True))
        common += of_level.cumsum(1).minimum(best)
        better = better + of_level.sum(1, keepdim=True)
    return (common / rank * (rank <= better)).double().sum(1) / better.squeeze(1)
