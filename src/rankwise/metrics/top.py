"""Metrics of the first ranks: @k, at R = n⁺, and the first positive.

With ties each is the mean over all orders of the tied items, in closed form.
"""

from __future__ import annotations

import warnings
from typing import Unpack

import torch
from torch import Tensor

from rankwise.metrics._depth import first_k, first_positives, first_r, top_of_both
from rankwise.metrics._setting import Kernel, Shared, computed_by, evaluate, require_cut, require_k
from rankwise.metrics.auc import pair_share
from rankwise.metrics.inputs import Array
from rankwise.metrics.ranking import Ranking, band, mass_above, ratio, require_ranks


def _positives_through(ranking: Ranking, rank: Tensor | float) -> Tensor:
    """Expected mass of positives among the first ``rank``: a cut level gives its share."""
    share = ratio(ranking.positives, ranking.mass)
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


def _mean_reciprocal_rank(ranking: Ranking, k: int | None) -> Tensor:
    ranking.require_counts("mean_reciprocal_rank")
    first = (ranking.positives > 0).long().argmax(-1, keepdim=True)  # level of the first positive
    above = mass_above(ranking.mass).gather(-1, first)
    m, p = ranking.mass.gather(-1, first), ranking.positives.gather(-1, first)
    # Among m tied items the first of p positives is j-th with chance C(m−j, p−1)/C(m, p).
    longest = require_ranks(float((m - p).max()), "mean_reciprocal_rank") + 1
    j = torch.arange(1, longest + 1, dtype=m.dtype, device=m.device)
    chance = (_log_choose(m - j, p - 1) - _log_choose(m, p)).exp()
    reciprocal = 1 / (above + j)
    if k is not None:
        reciprocal = reciprocal.masked_fill(above + j > k, 0.0)
    return (chance * reciprocal).sum(-1)


def _map_at_r(ranking: Ranking) -> Tensor:
    ranking.require_counts("map_at_r")
    return precisions_through(ranking, ranking.n_positives) / ranking.n_positives.squeeze(-1)


def precisions_through(ranking: Ranking, rank: Tensor | float) -> Tensor:
    """Return Σ_{i ≤ rank} 1[i-th is positive] · precision@i of lists whose weights are counts."""
    m, p = ranking.mass, ranking.positives
    above, slots = mass_above(m), band(m, 0.0, rank)
    # Rank i of a level holds a positive with chance p/m, and then its precision is on average
    # (positives above + 1 + (i − above − 1)·(p−1)/(m−1)) / i; summed over i by harmonic numbers.
    pace = ratio(p - 1, m - 1)
    start = mass_above(p) + 1 - (above + 1) * pace
    reciprocals = torch.digamma(above + slots + 1) - torch.digamma(above + 1)
    share = ratio(p, m)
    return (share * (start * reciprocals + pace * slots)).sum(-1)


def _pap_at_k(ranking: Ranking, k: int) -> Tensor:
    if bool(((ranking.n_negatives > 0) & (ranking.n_negatives < k)).any()):
        # No counts, so that Python shows the same words once and not for every block of lists.
        warnings.warn(
            f"some lists have fewer than k={k} negatives: pap_at_k uses all they have",
            RuntimeWarning,
            stacklevel=2,
        )
    return pair_share(band(ranking.positives, 0.0, k), band(ranking.negatives, 0.0, k))


def _log_choose(n: Tensor, k: Tensor) -> Tensor:
    """Log of n over k, −inf where k > n."""
    value = (n + 1).lgamma() - (k + 1).lgamma() - ((n - k).clamp_min(0) + 1).lgamma()
    return torch.where(k <= n, value, -torch.inf)


@computed_by(Kernel(_precision_at_k, require_k, name="precision", pairs=False, depth=first_k))
def precision_at_k(
    scores: Array, target: Array, *, k: int, **shared: Unpack[Shared[Array]]
) -> Array:
    """Compute the share of positives among the first k.

    The divisor is k also where the list is shorter, as in trec_eval.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        k: Number of first ranks.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import precision_at_k
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> precision_at_k(scores, target, k=2).item()  # the first 2 hold 1 positive: 1/2
        0.5
    """
    return evaluate(precision_at_k, scores, target, shared, k=k)


@computed_by(Kernel(_recall_at_k, require_k, name="recall", pairs=False, depth=first_k))
def recall_at_k(scores: Array, target: Array, *, k: int, **shared: Unpack[Shared[Array]]) -> Array:
    """Compute the share of all positives that are among the first k.

    Image retrieval calls another number Recall@k: :func:`hit_at_k`.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        k: Number of first ranks.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import recall_at_k
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> recall_at_k(scores, target, k=3).item()  # the first 3 hold both positives: 2/2
        1.0
    """
    return evaluate(recall_at_k, scores, target, shared, k=k)


@computed_by(Kernel(_hit_at_k, require_k, name="hit", pairs=False, depth=first_k))
def hit_at_k(scores: Array, target: Array, *, k: int, **shared: Unpack[Shared[Array]]) -> Array:
    """Compute whether a positive is among the first k: the Recall@k of image retrieval.

    With ties, the probability of it over the orders of the tied items. Weights must be whole
    numbers.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        k: Number of first ranks.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import hit_at_k
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> hit_at_k(scores, target, k=1).item()
        1.0
        >>> round(hit_at_k(torch.zeros(4), target, k=1).item(), 4)  # all tied: chance 2/4
        0.5
    """
    return evaluate(hit_at_k, scores, target, shared, k=k)


@computed_by(Kernel(_r_precision, pairs=False, depth=first_r))
def r_precision(scores: Array, target: Array, **shared: Unpack[Shared[Array]]) -> Array:
    """Compute the share of positives among the first R, the number of positives.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import r_precision
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> r_precision(scores, target).item()  # R = 2, and the first 2 hold 1 positive: 1/2
        0.5
    """
    return evaluate(r_precision, scores, target, shared)


@computed_by(Kernel(_map_at_r, name="map@r", pairs=False, depth=first_r))
def map_at_r(scores: Array, target: Array, **shared: Unpack[Shared[Array]]) -> Array:
    """Compute the mean average precision at R, the number of positives.

    MAP@R = 1/R Σ_{i ≤ R} 1[i-th is positive] · precision@i. Weights must be whole numbers.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import map_at_r
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> round(map_at_r(scores, target).item(), 4)  # R = 2, rank 2 is negative: (1 + 0)/2
        0.5

    Reference:
        Musgrave, Belongie and Lim 2020, "A Metric Learning Reality Check".
    """
    return evaluate(map_at_r, scores, target, shared)


def _first_positives(ranking: Ranking, k: int | None) -> float:
    depth = first_positives(ranking)
    return depth if k is None else min(depth, float(k))


@computed_by(
    Kernel(_mean_reciprocal_rank, require_cut, name="mrr", pairs=False, depth=_first_positives)
)
def mean_reciprocal_rank(
    scores: Array, target: Array, *, k: int | None = None, **shared: Unpack[Shared[Array]]
) -> Array:
    """Compute 1 over the rank of the first positive.

    Weights must be whole numbers.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        k: Last rank that counts: 0 where the first positive is below it. By default all ranks.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import mean_reciprocal_rank
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3]), torch.tensor([0, 1, 1])
        >>> mean_reciprocal_rank(scores, target).item()  # the first positive has rank 2: 1/2
        0.5
        >>> mean_reciprocal_rank(scores, target, k=1).item()
        0.0
    """
    return evaluate(mean_reciprocal_rank, scores, target, shared, k=k)


@computed_by(Kernel(_pap_at_k, require_k, name="pap", pooled="macro", depth=top_of_both))
def pap_at_k(scores: Array, target: Array, *, k: int, **shared: Unpack[Shared[Array]]) -> Array:
    """Compute pAp@k, the AUC between the top min(n⁺, k) positives and the top k negatives.

    pAp@k = 1 − 1/(βk) Σ_{i≤β} Σ_{j≤k} 1[s⁺_(i) ≤ s⁻_(j)], β = min(n⁺, k). Tied pairs count half by
    default; ``ties="against"`` is the paper's ≤. With fewer than k negatives all of them are used,
    with a warning.

    .. warning::
       **The words of** ``average`` **follow this paper and are swapped**: ``"micro"``, the default,
       is the mean over lists (users, Eq. 17); ``"macro"`` pools the items of all users into one
       list.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        k: Number of positives and of negatives from the top.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import pap_at_k
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> pap_at_k(scores, target, k=1).item()  # 0.9 > 0.8
        1.0
        >>> pap_at_k(scores, target, k=2).item()  # 1 of the 2 · 2 pairs, 0.3 < 0.8, is wrong
        0.75

    Reference:
        Hiranandani et al. 2020, "Optimization and Analysis of the pAp@k Metric", Eq. 1.
    """
    return evaluate(pap_at_k, scores, target, shared, k=k)
