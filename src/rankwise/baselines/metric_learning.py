"""Losses of metric learning on similarities: contrastive, triplet, multi-similarity."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.checks import require_number, require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction
from rankwise.pairs import Hinge, ZeroOne, pair_sum

__all__ = ["Contrastive", "MultiSimilarity", "Triplet"]


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
        lists = lists.widened()
        apart = (1 - lists.positives) * lists.positive_weight
        near = (lists.negatives - self.margin).clamp_min(0) * lists.negative_weight
        size = lists.n_positives + lists.n_negatives
        return (apart.sum(-1) + near.sum(-1)) / size.squeeze(-1)


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


class MultiSimilarity(Objective):
    """1/α log(1 + Σ_P e^(−α(s_i − λ))) + 1/β log(1 + Σ_N e^(β(s_j − λ)))   (Wang et al. 2019).

    One query a list. The sums have only mined pairs: positives with s_i < max_N s + ε and negatives
    with s_j > min_P s − ε; ``epsilon=None`` takes all. α = 2, β = 50, ε = 0.1 as in
    the paper, λ (``base``) = 0.5 as in the authors' code.
    """

    def __init__(
        self,
        alpha: float = 2.0,
        beta: float = 50.0,
        base: float = 0.5,
        epsilon: float | None = 0.1,
        *,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_positive("alpha", alpha)
        require_positive("beta", beta)
        require_number("base", base)
        if epsilon is not None:
            require_number("epsilon", epsilon)
        self.alpha, self.beta, self.base, self.epsilon = alpha, beta, base, epsilon

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        hard_positive, hard_negative = lists.positive_weight > 0, lists.negative_weight > 0
        if self.epsilon is not None:
            worst = lists.positives.masked_fill(~hard_positive, torch.inf).amin(-1, keepdim=True)
            best = lists.negatives.masked_fill(~hard_negative, -torch.inf).amax(-1, keepdim=True)
            hard_positive = hard_positive & (lists.positives < best + self.epsilon)
            hard_negative = hard_negative & (lists.negatives > worst - self.epsilon)
        pulled = -self.alpha * (lists.positives - self.base)
        pushed = self.beta * (lists.negatives - self.base)
        return (
            _log_one_plus_sum(pulled, lists.positive_weight, hard_positive) / self.alpha
            + _log_one_plus_sum(pushed, lists.negative_weight, hard_negative) / self.beta
        )


def _log_one_plus_sum(exponent: Tensor, weight: Tensor, chosen: Tensor) -> Tensor:
    """log(1 + Σ weight · e^exponent) over the chosen ones, in the log domain."""
    terms = (exponent + torch.where(chosen, weight, 1).log()).masked_fill(~chosen, -torch.inf)
    one = terms.new_zeros(len(terms), 1)
    return torch.cat([terms, one], dim=-1).logsumexp(-1)
