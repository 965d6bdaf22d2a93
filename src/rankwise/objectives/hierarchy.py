"""Labels with several levels, a tree of classes, as graded relevances."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.checks import require_count, require_number, require_same_shape


def shared_levels(labels: Tensor, gallery_labels: Tensor | None = None) -> Tensor:
    """Count the levels of a label tree that every query shares with every item, from the root on.

    Args:
        labels: Labels of the queries, shape (queries, levels), the coarsest first.
        gallery_labels: Labels of the items that are ranked, shape (items, levels); None: those of
            the queries.

    Returns:
        Whole numbers from 0 (nothing shared) to the number of levels, shape (queries, items).

    Raises:
        ValueError: If a shape does not fit.

    Example:
        >>> import torch
        >>> from rankwise.objectives import shared_levels
        >>> labels = torch.tensor([[0, 0], [0, 1], [1, 2]])  # super-class and class
        >>> shared_levels(labels)
        tensor([[2, 1, 0],
                [1, 2, 0],
                [0, 0, 2]])
    """
    gallery_labels = labels if gallery_labels is None else gallery_labels
    if labels.dim() != 2 or gallery_labels.dim() != 2 or labels.shape[1] != gallery_labels.shape[1]:
        raise ValueError(
            "labels and gallery_labels must have shapes (items, levels) with the same levels, got "
            f"{tuple(labels.shape)} and {tuple(gallery_labels.shape)}"
        )
    same = torch.ones(len(labels), len(gallery_labels), dtype=torch.bool, device=labels.device)
    found = torch.zeros_like(same, dtype=torch.long)
    for own, other in zip(labels.unbind(1), gallery_labels.unbind(1), strict=True):
        same = same & (own.unsqueeze(1) == other)
        found += same
    return found


def tree_relevance(
    levels: Tensor, depth: int, *, alpha: float = 1.0, mask: Tensor | None = None
) -> Tensor:
    """Turn the levels that items share with their queries into the relevances of H-AP.

    An item that shares l of L levels has the relevance (l/L)^α / n_l, where n_l is the number of
    such items in its list. So all items of a level together weigh (l/L)^α, however many there are;
    where a coarse level has few of them, each may weigh more than one of a finer level.

    Args:
        levels: Shared levels, shape (queries, items), from :func:`shared_levels`.
        depth: Number of levels L of the tree.
        alpha: How fast relevances fall with the distance in the tree; 0: all levels weigh alike.
        mask: True for items that are present, of the same shape.

    Returns:
        Relevances in float64, shape (queries, items); 0 where nothing is shared or present.

    Raises:
        ValueError: If an argument is out of range.

    Example:
        >>> import torch
        >>> from rankwise.objectives import tree_relevance
        >>> tree_relevance(torch.tensor([[2, 1, 1, 0]]), depth=2)  # 1/1, (1/2)/2 twice, 0
        tensor([[1.0000, 0.2500, 0.2500, 0.0000]], dtype=torch.float64)

    Reference:
        Ramzi et al. 2022, "Hierarchical average precision training for pertinent image retrieval".
    """
    require_count("depth", depth)
    require_number("alpha", alpha, minimum=0)
    if levels.numel() and not 0 <= int(levels.min()) <= int(levels.max()) <= depth:
        raise ValueError(
            f"levels must be from 0 to depth, {depth}, got {int(levels.min())} to "
            f"{int(levels.max())}"
        )
    if mask is not None:
        require_same_shape("mask", mask, "levels", levels)
        levels = levels.masked_fill(~mask, 0)
    relevance = torch.zeros_like(levels, dtype=torch.float64)
    for level in range(1, depth + 1):
        chosen = levels == level
        share = (level / depth) ** alpha / chosen.sum(-1, keepdim=True).clamp_min(1)
        relevance += chosen * share
    return relevance
