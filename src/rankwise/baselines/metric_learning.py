"""Losses of metric learning on similarities: contrastive, triplet, multi-similarity."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.checks import require_number, require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction
from rankwise.pairs import Hinge, ZeroOne, pair_sum


class Contrastive(Objective):
    """Contrastive loss on similarities, one query per list.

    The loss is ( Σ_{i∈P} (1 − s_i) + Σ_{j∈N} (s_j − margin)₊ ) / (n⁺ + n⁻): Hadsell et al. in the
    form of XBM, with cosines in place of distances. XBM's code takes the sum over the pairs of a
    query; the mean has the same direction and does not grow with the gallery.

    Args:
        margin: Similarity below which a negative has no loss; 0.5 in XBM.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import Contrastive
        >>> scores, target = torch.tensor([0.75, 0.75, 0.25]), torch.tensor([1, 0, 0])
        >>> Contrastive()(scores, target)  # (0.25 + 0.25 + 0)/3
        tensor(0.1667)

    Reference:
        Hadsell et al. 2006, "Dimensionality reduction by learning an invariant mapping"; Wang et
        al. 2020, "Cross-batch memory for embedding learning".
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
    """Triplet loss on similarities over all triplets, one query per list.

    The loss is mean_{i∈P, j∈N} (margin − s_i + s_j)₊, in n log n.

    Args:
        margin: Required distance between similarities. The default is FaceNet's 0.2 of squared
            distances, which are 2 − 2s for unit vectors.
        violating_only: Whether the mean is over the triplets that are not beyond the margin ("batch
            all" of Hermans et al. 2017); 0 if all are.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import Triplet
        >>> scores, target = torch.tensor([0.5, 0.5, 0.25]), torch.tensor([1, 0, 0])
        >>> Triplet()(scores, target)  # (0.1 + 0)/2
        tensor(0.0500)
        >>> Triplet(violating_only=True)(scores, target)
        tensor(0.1000)

    Reference:
        Schroff et al. 2015, "FaceNet"; Hermans et al. 2017, "In defense of the triplet loss".
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
        """Return the mass of the triplets with s_i − margin ≤ s_j."""
        # In double precision like the sum itself, lest the shift round a triplet over the edge.
        wanted, negatives = lists.positives.double() - self.hinge.margin, lists.negatives.double()
        above = pair_sum(ZeroOne(), wanted, negatives, weight=lists.negative_weight)
        return lists.n_positives.squeeze(-1) * lists.mean_over_positives(above).to(
            lists.positive_weight.dtype
        )


class MultiSimilarity(Objective):
    """Multi-similarity loss on mined pairs, one query per list.

    The loss is 1/α log(1 + Σ_P e^(−α(s_i − λ))) + 1/β log(1 + Σ_N e^(β(s_j − λ))). The sums contain
    mined pairs only: positives with s_i < max_N s + ε and negatives with s_j > min_P s − ε.

    Args:
        alpha: Scale α of the positives.
        beta: Scale β of the negatives.
        base: Similarity λ at which a pair has exponent 0; 0.5 in the authors' code.
        epsilon: Margin ε of the mining; None uses all pairs.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import MultiSimilarity
        >>> scores, target = torch.tensor([0.5, 0.5]), torch.tensor([1, 0])
        >>> MultiSimilarity()(scores, target)  # log(2)/2 + log(2)/50
        tensor(0.3604)

    Reference:
        Wang et al. 2019, "Multi-similarity loss with general pair weighting".
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
    """Return log(1 + Σ weight · e^exponent) over the chosen ones, in the log domain."""
    terms = (exponent + torch.where(chosen, weight, 1).log()).masked_fill(~chosen, -torch.inf)
    one = terms.new_zeros(len(terms), 1)
    return torch.cat([terms, one], dim=-1).logsumexp(-1)
