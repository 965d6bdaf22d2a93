"""The DR loss of one-stage detectors: two distributions ranked, the hardest of each."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus

from rankwise.baselines.options import require_number
from rankwise.baselines.precision import widened
from rankwise.checks import require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction

__all__ = ["DistributionalRanking"]


class DistributionalRanking(Objective):
    """τ/L · log(1 + exp(L(P⁻ − P⁺ + γ)))   (Qian et al. 2020, "DR loss").

    P⁻ = Σ_j q_j p_j over the negatives with q ∝ exp(p/λ⁻) and P⁺ = Σ_i q_i p_i over the positives
    with q ∝ exp(−p/λ⁺): the means of the probabilities p = sigmoid(s) under the least favorable
    distributions at a bounded distance from the uniform one. The gradient goes through q as well.
    Defaults are those of the released code. For a list without positives that code ranks P⁻ below
    1; here such a list contributes nothing, as with every ranking objective.
    """

    def __init__(
        self,
        positive_lambda: float = 1.0,
        negative_lambda: float = 0.1 / math.log(3.5),
        *,
        steepness: float = 6.0,
        margin: float = 0.5,
        tau: float = 4.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        for name, value in (
            ("positive_lambda", positive_lambda),
            ("negative_lambda", negative_lambda),
            ("steepness", steepness),
            ("tau", tau),
        ):
            require_positive(name, value)
        require_number("margin", margin)
        self.positive_lambda, self.negative_lambda = positive_lambda, negative_lambda
        self.steepness, self.margin, self.tau = steepness, margin, tau

    def risk(self, lists: Lists) -> Tensor:
        lists = widened(lists)
        low = _hardest_mean(lists.positives, lists.positive_weight, -1 / self.positive_lambda)
        high = _hardest_mean(lists.negatives, lists.negative_weight, 1 / self.negative_lambda)
        z = self.steepness * (high - low + self.margin)
        return self.tau / self.steepness * softplus(z)


def _hardest_mean(scores: Tensor, weight: Tensor, rate: float) -> Tensor:
    """Σ q·p with q ∝ weight·exp(rate·p), one number for each list."""
    p = torch.sigmoid(scores)
    q = torch.softmax(rate * p + weight.log(), dim=-1)
    return (q * p).sum(-1)
