"""Normalized discounted cumulative gain."""

from __future__ import annotations

import math
from typing import Literal, Unpack

import torch
from torch import Tensor

from rankwise.checks import reads_values, require_count, require_one_of
from rankwise.metrics._setting import Kernel, Shared, computed_by, evaluate
from rankwise.metrics.inputs import Array
from rankwise.metrics.ranking import Ranking, require_ranks

LARGEST = 1000.0
"""The greatest relevance of an exponential gain: millions of 2^1000 have a sum, two 2^1023 none."""

Gain = Literal["exponential", "linear"]


def _check(k: int | None, gain: Gain) -> None:
    if k is not None:
        require_count("k", k)
    require_one_of("gain", gain, ("exponential", "linear"))


def _ndcg(ranking: Ranking, k: int | None, gain: Gain) -> Tensor:
    best = best_gain(ranking.target, ranking.weight, gain, k)
    gains = ranking.per_level(gains_of(ranking.target, gain))
    # Items of one level share its discount evenly: the mean over their orders.
    mean_gain = torch.where(ranking.mass > 0, gains / ranking.mass, 0.0)
    return torch.where(best > 0, _discounted(mean_gain, ranking.mass, k) / best, math.nan)


def best_gain(relevance: Tensor, weight: Tensor, gain: Gain, k: int | None) -> Tensor:
    """Return DCG@k of the best order of every list: descending relevance.

    ``weight`` may have more rows than ``relevance``; both are float64.
    """
    relevance, order = relevance.sort(dim=-1, descending=True)
    return _discounted(gains_of(relevance, gain), weight.gather(-1, order.expand_as(weight)), k)


def _discounted(gains: Tensor, mass: Tensor, k: int | None) -> Tensor:
    """Return Σ gain · discount, each entry with the discounts of the ranks its mass takes."""
    through = mass.cumsum(-1)
    discount = discount_through(through if k is None else through.clamp_max(k))
    discount = discount.diff(dim=-1, prepend=discount.new_zeros(len(discount), 1))
    return (gains * discount).sum(-1)


def gains_of(relevance: Tensor, gain: Gain) -> Tensor:
    """Return the gains 2^y − 1 or y of relevances."""
    if gain == "linear":
        return relevance
    if reads_values() and relevance.numel() and (most := float(relevance.max())) > LARGEST:
        raise ValueError(
            f"target must be at most {LARGEST:g} for an exponential gain, 2^target − 1, which is "
            f"infinite soon after; got {most:g}; gain='linear' takes it"
        )
    return relevance.exp2() - 1


def discount_through(rank: Tensor) -> Tensor:
    """Return Σ_{r ≤ rank} 1/log₂(1 + r), linear between whole ranks."""
    longest = require_ranks(float(rank.max()), "NDCG", remedy="k or smaller weights")
    ranks = torch.arange(1, longest + 2, dtype=rank.dtype, device=rank.device)
    single = 1 / (1 + ranks).log2()
    through = torch.nn.functional.pad(single.cumsum(0), (1, 0))
    whole = rank.long()
    return through[whole] + (rank - whole) * single[whole]


@computed_by(Kernel(_ndcg, _check, graded=True))
def ndcg(
    scores: Array,
    target: Array,
    *,
    k: int | None = None,
    gain: Gain = "exponential",
    **shared: Unpack[Shared[Array]],
) -> Array:
    """Compute NDCG, the discounted gain of a ranking over that of the best ranking.

    DCG@k = Σ_{r ≤ k} gain(y_(r)) / log₂(1 + r). Tied items share their discounts evenly, which is
    the mean over their orders; ``ties="against"`` puts the lower gain first. A list without
    relevant items is NaN.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        k: Number of first ranks that count; None is the whole list.
        gain: ``"exponential"``, 2^y − 1, or ``"linear"``, y, as :func:`sklearn.metrics.ndcg_score`.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import ndcg
        >>> scores, relevance = torch.tensor([0.9, 0.8, 0.3]), torch.tensor([3, 0, 1])
        >>> # (7/log₂2 + 0/log₂3 + 1/log₂4) / (7/log₂2 + 1/log₂3) = 7.5/7.6309
        >>> round(ndcg(scores, relevance).item(), 4)
        0.9828

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.4.
    """
    return evaluate(ndcg, scores, target, shared, k=k, gain=gain)
