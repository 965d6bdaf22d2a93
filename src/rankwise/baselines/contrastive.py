"""The contrastive loss on similarities."""

from __future__ import annotations

from torch import Tensor

from rankwise.baselines.options import require_number
from rankwise.baselines.precision import widened
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction

__all__ = ["Contrastive"]


class Contrastive(Objective):
    """( Σ_{i∈P} (1 − s_i) + Σ_{j∈N} (s_j − margin)₊ ) / (n⁺ + n⁻), one query a list.

    Hadsell et al. 2006 in the form of XBM (Wang et al. 2020, margin 0.5): cosines in place of
    distances. XBM's code takes the sum over the pairs of a query; the mean taken here has the same
    direction and does not grow with the gallery.
    """

    def __init__(self, margin: float = 0.5, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        require_number("margin", margin)
        self.margin = margin

    def risk(self, lists: Lists) -> Tensor:
        lists = widened(lists)
        apart = (1 - lists.positives) * lists.positive_weight
        near = (lists.negatives - self.margin).clamp_min(0) * lists.negative_weight
        size = lists.n_positives + lists.n_negatives
        return (apart.sum(-1) + near.sum(-1)) / size.squeeze(-1)
