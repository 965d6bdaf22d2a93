"""Hierarchical average precision: precision of a ranking with graded relevances."""

from __future__ import annotations

import math
from typing import Unpack

import torch
from torch import Tensor

from rankwise.metrics._setting import Kernel, Shared, computed_by, evaluate
from rankwise.metrics.inputs import Array
from rankwise.metrics.ranking import Ranking, ratio
from rankwise.pairs import ZeroOne, pair_sum
from rankwise.pairs.ordered import pair_sum_below


def _hierarchical_ap(ranking: Ranking) -> Tensor:
    weight = ranking.weight
    relevance = ranking.target.expand_as(weight)
    place = -ranking.level.double().expand_as(weight)  # as a score: higher is better
    rank = pair_sum(ZeroOne(), place, place, weight=weight)
    # Σ_j min(y_j, y_k) over j not below k: y_j of the less relevant ones, y_k of the others.
    less = pair_sum_below(ZeroOne(), place, relevance, weight=weight)
    of_less = pair_sum_below(ZeroOne(), place, relevance, weight=weight * relevance)
    gained = relevance * (rank - less) + of_less
    total = (weight * relevance).sum(-1)
    value = (weight * ratio(gained, rank)).sum(-1) / total
    return torch.where(total > 0, value, math.nan)


@computed_by(Kernel(_hierarchical_ap, graded=True))
def hierarchical_ap(scores: Array, target: Array, **shared: Unpack[Shared[Array]]) -> Array:
    """Compute the hierarchical average precision H-AP of a ranking with graded relevances.

    H-AP = 1/(Σ_k y_k) Σ_k (Σ_{j: s_j ≥ s_k} min(y_j, y_k)) / #{j: s_j ≥ s_k}, in n log² n. An item
    that is a little less relevant than k costs little above it; with relevances of 0 and 1 this is
    :func:`average_precision`. Tied items all count as above, whatever their order;
    ``ties="against"`` puts the less relevant ones first. A list without relevant items is NaN.
    :func:`rankwise.objectives.tree_relevance` makes relevances of a tree of labels.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import hierarchical_ap
        >>> scores, relevance = torch.tensor([0.9, 0.8, 0.3]), torch.tensor([0.5, 1.0, 0.0])
        >>> round(hierarchical_ap(scores, relevance).item(), 4)  # (0.5/1 + (0.5 + 1)/2)/1.5
        0.8333

    Reference:
        Ramzi et al. 2022, "Hierarchical average precision training for pertinent image retrieval".
    """
    return evaluate(hierarchical_ap, scores, target, shared)
