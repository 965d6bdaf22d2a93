"""The formulas of the AUC family as functions of lists: the stateless core of its objectives."""

from __future__ import annotations

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives.ap.formulas import false_positive_rate
from rankwise.pairs import Surrogate

__all__ = ["pair_mean"]


def pair_mean(surrogate: Surrogate, lists: Lists) -> Tensor:
    """mean_{i∈P, j∈N} ℓ(s_i − s_j) of every list, (lists,)   (EXM 2.3.1)."""
    return lists.mean_over_positives(false_positive_rate(surrogate, lists))
