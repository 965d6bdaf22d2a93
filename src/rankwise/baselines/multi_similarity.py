"""The multi-similarity loss."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.baselines.options import require_number
from rankwise.baselines.precision import widened
from rankwise.checks import require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction

__all__ = ["MultiSimilarity"]


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
        lists = widened(lists)
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
