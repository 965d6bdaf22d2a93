"""The formulas of the NDCG family as functions of lists: the stateless core of its objectives."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.lists import Lists
from rankwise.metrics.dcg import Gain, best_gain
from rankwise.objectives._selection import hardest, soft_hardest
from rankwise.pairs import Surrogate, pair_sum


def surrogate_rank(surrogate: Surrogate, lists: Lists, itself: float = 1.0) -> Tensor:
    """g_i = 1 + Σ_{j≠i} ℓ(s_i − s_j) at every relevant item, (lists, positives)   (EXM 2.3.4).

    The sum is over the whole list. The item itself counts as exactly 1 whatever ℓ(0) is, so that
    g ≥ 1 for every ℓ ≥ 0 and g is at least the rank where ℓ ≥ ℓ₀₁. Another ``itself`` replaces 1.
    """
    # Of an item of weight w the sum has w·ℓ(0): one of them is the item, the others its copies.
    own = itself - value_at_tie(surrogate) * lists.positive_weight.clamp_max(1)
    return pair_sum(surrogate, lists.positives, lists.scores, weight=lists.weight) + own


def value_at_tie(surrogate: Surrogate) -> float:
    """ℓ(0), the loss of two equal scores."""
    return float(surrogate.value(torch.zeros((), dtype=torch.float64)))


@torch.no_grad()
def normalized_gains(lists: Lists, gain: Gain, k: int | None = None) -> Tensor:
    """gain(y)/Z of all items, positives first, with Z the discounted gain of the best order.

    Z is that of :func:`rankwise.metrics.ndcg` with the same options: at most ``k`` ranks count, and
    an item of weight 2 takes two of them. 0 where no gain is more than rounding.
    """
    relevance = lists.relevances.double()
    best = best_gain(relevance, lists.weight.double(), gain, k).unsqueeze(-1)
    gains = relevance.exp2() - 1 if gain == "exponential" else relevance
    return torch.where(best > 0, gains / best, 0).to(lists.weight.dtype)


def share_at_the_top(lists: Lists, k: Tensor | float, softness: float | None = None) -> Tensor:
    """How much of each relevant item is among the k highest of its list, (lists, positives).

    ``k`` is a number or one per list, (lists, 1). 1 or 0, and between them for items tied at the
    k-th score, which share what is left there; without a gradient. A ``softness`` is the
    temperature of :func:`~rankwise.objectives._selection.soft_hardest`, which has one.
    """
    if softness is not None:
        share = soft_hardest(lists.scores, lists.weight, k, softness)
        return share[:, : lists.positives.shape[-1]]
    part = hardest(lists.scores, lists.weight, k)[:, : lists.positives.shape[-1]]
    return torch.where(lists.positive_weight > 0, part / lists.positive_weight, 0)
