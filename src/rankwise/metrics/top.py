"""Metrics of the first ranks: @k, at R = n⁺, and the first positive.

Among tied items each is the mean over all their orders, in closed form.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.metrics.inputs import Array, Average, Ties
from rankwise.metrics.ranking import Ranking, band, mass_above
from rankwise.metrics.setting import Kernel, Setting, computed_by, require_k

__all__ = [
    "hit_at_k",
    "map_at_r",
    "mean_reciprocal_rank",
    "precision_at_k",
    "r_precision",
    "recall_at_k",
]


def _positives_through(ranking: Ranking, rank: Tensor | float) -> Tensor:
    """Expected mass of positives among the first ``rank``: a cut level gives its share."""
    share = torch.where(ranking.mass > 0, ranking.positives / ranking.mass, 0.0)
    return (band(ranking.mass, 0.0, rank) * share).sum(-1)


def _precision_at_k(ranking: Ranking, k: int) -> Tensor:
    return _positives_through(ranking, k) / k


def _recall_at_k(ranking: Ranking, k: int) -> Tensor:
    return _positives_through(ranking, k) / ranking.n_positives.squeeze(-1)


def _r_precision(ranking: Ranking) -> Tensor:
    n = ranking.n_positives
    return _positives_through(ranking, n) / n.squeeze(-1)


def _hit_at_k(ranking: Ranking, k: int) -> Tensor:
    ranking.require_counts("hit_at_k")
    cut = (ranking.mass.cumsum(-1) < k).sum(-1, keepdim=True).clamp_max(ranking.levels - 1)
    positives_above = mass_above(ranking.positives).gather(-1, cut)
    m, negatives = ranking.mass.gather(-1, cut), ranking.negatives.gather(-1, cut)
    slots = band(ranking.mass, 0.0, k).gather(-1, cut)
    # Hypergeometric: r slots of the cut level miss its positives with chance C(m−p, r)/C(m, r).
    miss = (_log_choose(negatives, slots) - _log_choose(m, slots)).exp()
    return torch.where(positives_above > 0, 1.0, 1 - miss).squeeze(-1)


def _mean_reciprocal_rank(ranking: Ranking) -> Tensor:
    ranking.require_counts("mean_reciprocal_rank")
    first = (ranking.positives > 0).long().argmax(-1, keepdim=True)  # level of the first positive
    above = mass_above(ranking.mass).gather(-1, first)
    m, p = ranking.mass.gather(-1, first), ranking.positives.gather(-1, first)
    # Among m tied items the first of p positives is j-th with chance C(m−j, p−1)/C(m, p).
    j = torch.arange(1, int((m - p).max()) + 2, dtype=m.dtype, device=m.device)
    chance = (_log_choose(m - j, p - 1) - _log_choose(m, p)).exp()
    return (chance / (above + j)).sum(-1)


def _map_at_r(ranking: Ranking) -> Tensor:
    ranking.require_counts("map_at_r")
    n, m, p = ranking.n_positives, ranking.mass, ranking.positives
    above, slots = mass_above(m), band(m, 0.0, n)
    # Rank i of a level holds a positive with chance p/m, and then its precision is on average
    # (positives above + 1 + (i − above − 1)·(p−1)/(m−1)) / i; summed over i by harmonic numbers.
    pace = torch.where(m > 1, (p - 1) / (m - 1), 0.0)
    start = mass_above(p) + 1 - (above + 1) * pace
    reciprocals = torch.digamma(above + slots + 1) - torch.digamma(above + 1)
    share = torch.where(m > 0, p / m, 0.0)
    return (share * (start * reciprocals + pace * slots)).sum(-1) / n.squeeze(-1)


def _log_choose(n: Tensor, k: Tensor) -> Tensor:
    """Log of n over k, −inf where k > n."""
    value = (n + 1).lgamma() - (k + 1).lgamma() - ((n - k).clamp_min(0) + 1).lgamma()
    return torch.where(k <= n, value, -torch.inf)


PRECISION_AT_K = Kernel(_precision_at_k, require_k, pairs=False)
RECALL_AT_K = Kernel(_recall_at_k, require_k, pairs=False)
HIT_AT_K = Kernel(_hit_at_k, require_k, pairs=False)
R_PRECISION = Kernel(_r_precision, pairs=False)
MAP_AT_R = Kernel(_map_at_r, pairs=False)
MEAN_RECIPROCAL_RANK = Kernel(_mean_reciprocal_rank, pairs=False)


@computed_by(PRECISION_AT_K)
def precision_at_k(
    scores: Array,
    target: Array,
    *,
    k: int,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "macro",
) -> Array:
    """Positives among the first k, over k — also where the list is shorter, as trec_eval."""
    return Setting(PRECISION_AT_K, ties, average, {"k": k})(scores, target, mask, groups, weight)


@computed_by(RECALL_AT_K)
def recall_at_k(
    scores: Array,
    target: Array,
    *,
    k: int,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "macro",
) -> Array:
    """Positives among the first k, over all positives (the other Recall@k: :func:`hit_at_k`)."""
    return Setting(RECALL_AT_K, ties, average, {"k": k})(scores, target, mask, groups, weight)


@computed_by(HIT_AT_K)
def hit_at_k(
    scores: Array,
    target: Array,
    *,
    k: int,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "macro",
) -> Array:
    """Whether a positive is among the first k: the Recall@k of image retrieval.

    With ties the chance of it over their orders. Weights must be whole numbers.
    """
    return Setting(HIT_AT_K, ties, average, {"k": k})(scores, target, mask, groups, weight)


@computed_by(R_PRECISION)
def r_precision(
    scores: Array,
    target: Array,
    *,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "macro",
) -> Array:
    """Share of positives among the first R = n⁺."""
    return Setting(R_PRECISION, ties, average, {})(scores, target, mask, groups, weight)


@computed_by(MAP_AT_R)
def map_at_r(
    scores: Array,
    target: Array,
    *,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "macro",
) -> Array:
    """Mean average precision at R = n⁺: 1/R Σ_{i ≤ R} 1[i-th is positive] · precision@i.

    Musgrave et al. 2020, "A Metric Learning Reality Check". Weights must be whole numbers.
    """
    return Setting(MAP_AT_R, ties, average, {})(scores, target, mask, groups, weight)


@computed_by(MEAN_RECIPROCAL_RANK)
def mean_reciprocal_rank(
    scores: Array,
    target: Array,
    *,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "macro",
) -> Array:
    """1 over the rank of the first positive. Weights must be whole numbers."""
    return Setting(MEAN_RECIPROCAL_RANK, ties, average, {})(scores, target, mask, groups, weight)
