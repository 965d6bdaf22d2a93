"""The triplet loss on similarities, over all triplets."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction
from rankwise.pairs import Hinge, ZeroOne, pair_sum

__all__ = ["Triplet"]


class Triplet(Objective):
    """mean_{i∈P, j∈N} (margin − s_i + s_j)₊, one query a list   (Schroff et al. 2015, FaceNet).

    All triplets of the query in n log n. With ``violating_only`` the mean is over the triplets
    that are not beyond the margin ("batch all" of Hermans et al. 2017), 0 if all are. The default
    margin is FaceNet's 0.2 of squared distances, which are 2 − 2s for unit vectors.
    """

    def __init__(
        self, margin: float = 0.1, *, violating_only: bool = False, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.hinge = Hinge(margin)
        self.violating_only = violating_only

    def risk(self, lists: Lists) -> Tensor:
        slack = pair_sum(self.hinge, lists.positives, lists.negatives, weight=lists.negative_weight)
        total = (slack * lists.positive_weight).sum(-1)
        if self.violating_only:
            violating = self._violating(lists)
            return total / torch.where(violating > 0, violating, 1)
        return total / (lists.n_positives * lists.n_negatives).squeeze(-1)

    @torch.no_grad()
    def _violating(self, lists: Lists) -> Tensor:
        """Mass of the triplets with s_i − margin ≤ s_j."""
        # In double precision like the sum itself, lest the shift round a triplet over the edge.
        wanted, negatives = lists.positives.double() - self.hinge.margin, lists.negatives.double()
        above = pair_sum(ZeroOne(), wanted, negatives, weight=lists.negative_weight)
        return lists.n_positives.squeeze(-1) * lists.mean_over_positives(above).to(
            lists.positive_weight.dtype
        )
