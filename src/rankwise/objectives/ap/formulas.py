"""The formulas of the AP family as functions of lists: the stateless core of its objectives."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.lists import Lists
from rankwise.pairs import Surrogate, pair_sum

__all__ = [
    "false_positive_rate",
    "saturating",
    "semi_variance",
    "stable_weights",
    "true_positive_rate",
]


def false_positive_rate(surrogate: Surrogate, lists: Lists) -> Tensor:
    """Return mean_{j∈N} ℓ(s_i − s_j) at every positive, (lists, positives)   (SOPRC 4)."""
    above = pair_sum(surrogate, lists.positives, lists.negatives, weight=lists.negative_weight)
    return above / lists.n_negatives


def true_positive_rate(surrogate: Surrogate, lists: Lists) -> Tensor:
    """Return (1 + Σ_{j≠i} ℓ(s_i − s_j))/n⁺ at every positive, the item itself counted once."""
    positives = lists.positives
    itself = 1 - surrogate.value(positives.new_zeros(()))  # 1 in place of ℓ(0), which the sum has
    total = pair_sum(surrogate, positives, positives, weight=lists.positive_weight)
    return (total + itself) / lists.n_positives


def saturating(x: Tensor) -> Tensor:
    """Return σ(x) = x/(1+x)."""
    return x / (1 + x)


def semi_variance(lists: Lists, below: float, above: float) -> Tensor:
    """Return λ₁ mean_P[(s−μ⁺)²; s<μ⁺] + λ₂ mean_N[(s−μ⁻)²; s>μ⁻]   (SOPRC 9)."""
    low = lists.positives - lists.mean_over_positives(lists.positives).unsqueeze(-1)
    high = lists.negatives - lists.mean_over_negatives(lists.negatives).unsqueeze(-1)
    return below * lists.mean_over_positives(low.clamp_max(0) ** 2) + above * (
        lists.mean_over_negatives(high.clamp_min(0) ** 2)
    )


@torch.no_grad()
def stable_weights(surrogate: Surrogate, gap: Tensor, width: float, a: float, t: float) -> Tensor:
    """Return w̃(r) = ((1+a)/(r+a))^t with r = ℓ(gap)/B in [0, 1]   (StableAP 5).

    ``gap`` = s_i − μ⁺ and B is the largest ℓ for scores that differ by at most ``width``.
    """
    r = (surrogate.value(gap) / surrogate.maximum(-width, width)).clamp(0, 1)
    return ((1 + a) / (r + a)) ** t
