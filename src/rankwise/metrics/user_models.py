"""Metrics of a user who reads from the top and stops: ERR, RBP and INST."""

from __future__ import annotations

import math
from typing import Unpack

import torch
from torch import Tensor

from rankwise.checks import is_finite, reads_values, require_count
from rankwise.metrics._err import expected_over_orders
from rankwise.metrics._setting import Kernel, Shared, computed_by, evaluate
from rankwise.metrics.inputs import Array
from rankwise.metrics.ranking import Ranking, mass_above, ratio, require_ranks

BLOCK = 2**22  # ranks worked on at a time


def _check_err(k: int | None, max_relevance: int) -> None:
    if k is not None:
        require_count("k", k)
    require_count("max_relevance", max_relevance)


def _expected_reciprocal_rank(ranking: Ranking, k: int | None, max_relevance: int) -> Tensor:
    ranking.require_counts("expected_reciprocal_rank")
    target = ranking.target
    if reads_values() and target.numel() and (most := float(target.max())) > max_relevance:
        raise ValueError(
            f"target must be at most max_relevance={max_relevance} for expected_reciprocal_rank, "
            f"got {most:g}; pass the largest relevance of the scale as max_relevance"
        )
    stop = (target.exp2() - 1) / 2.0**max_relevance
    survival = ranking.per_level(torch.log1p(-stop))
    reached = mass_above(survival).exp()  # the chance that the user reads as far as this level
    found = expected_over_orders(ranking, stop, math.inf if k is None else float(k))
    some = (ranking.weight * (target > 0)).sum(-1) > 0
    return torch.where(some, (reached * found).sum(-1), math.nan)


def _check_rbp(p: float, k: int | None) -> None:
    if not (is_finite(p) and 0 < p < 1):
        raise ValueError(f"p must be the chance to read on, in (0, 1), got {p!r}")
    if k is not None:
        require_count("k", k)


def _rank_biased_precision(ranking: Ranking, p: float, k: int | None) -> Tensor:
    through = ranking.mass.cumsum(-1)
    if k is not None:
        through = through.clamp_max(k)
    # Σ_{r ≤ rank} (1 − p)·p^(r−1) = 1 − p^rank at whole ranks, linear in between.
    whole = through.floor()
    read = 1 - p**whole + (through - whole) * (1 - p) * p**whole
    weight = read.diff(dim=-1, prepend=read.new_zeros(len(read), 1))
    return (ratio(ranking.positives, ranking.mass) * weight).sum(-1)


def _depth_of_rbp(ranking: Ranking, p: float, k: int | None) -> float:
    """Return the rank below which all weights together are less than the rounding of the value."""
    deep = math.ceil(math.log(1e-17) / math.log(p))
    return float(deep if k is None else min(k, deep))


def _check_inst(wanted: float) -> None:
    if not (is_finite(wanted) and wanted >= 1):
        raise ValueError(
            f"wanted must be the number of relevant items wanted, at least 1, got {wanted!r}"
        )


def _inst(ranking: Ranking, wanted: float) -> Tensor:
    ranking.require_counts("inst")
    through = ranking.mass.cumsum(-1)
    share = ratio(ranking.positives, ranking.mass).expand_as(through)
    longest = require_ranks(float(through[:, -1].max()), "inst")
    rank = torch.arange(1, longest + 1, dtype=through.dtype, device=through.device)
    step = max(1, BLOCK // max(1, longest))
    parts = zip(through.split(step), share.split(step), strict=True)
    return torch.cat([_inst_of_rows(*rows, rank, wanted) for rows in parts])


def _inst_of_rows(through: Tensor, share: Tensor, rank: Tensor, wanted: float) -> Tensor:
    longest = len(rank)
    if longest == 0:
        return through.new_full((len(through),), math.nan)
    # The level that holds each rank; ranks behind the end of a shorter list hold nothing.
    level = torch.searchsorted(through, rank.expand(len(through), longest).contiguous())
    inside = level < through.shape[-1]
    gain = torch.where(inside, share.gather(-1, level.clamp_max(through.shape[-1] - 1)), 0.0)
    got = gain.cumsum(-1)
    place = rank + 2 * wanted - got  # i + T + T_i
    reading = (((place - 1) / place) ** 2).cumprod(-1)  # the chance to read rank i + 1
    weight = torch.nn.functional.pad(reading[:, :-1], (1, 0), value=1.0)
    # Behind the list nothing is relevant: Σ_{i > n} ((n + c)/(i − 1 + c))² is a trigamma function.
    end = longest + 2 * wanted - got[:, -1]
    behind: Tensor = reading[:, -1] * end**2 * torch.special.polygamma(1, end)
    gained = (weight * gain).sum(-1)
    return gained / (weight.sum(-1) + behind)


@computed_by(Kernel(_expected_reciprocal_rank, _check_err, name="err", graded=True))
def expected_reciprocal_rank(
    scores: Array,
    target: Array,
    *,
    k: int | None = None,
    max_relevance: int = 4,
    **shared: Unpack[Shared[Array]],
) -> Array:
    """Compute ERR@k, the expected reciprocal of the rank at which a user is satisfied.

    ERR@k = Σ_{r ≤ k} 1/r · R_r · Π_{i<r} (1 − R_i), R = (2^y − 1)/2^max_relevance the chance that
    a document of relevance y satisfies. With ties it is the mean over the orders of the tied
    items, which takes time by the square of their number. Weights must be whole numbers. A list
    without relevant items is NaN, where gdeval has 0.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        k: Number of first ranks that count; None is the whole list.
        max_relevance: Largest relevance of the scale; the default is that of TREC's gdeval. Pass 1
            for a target of 0 and 1.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import expected_reciprocal_rank
        >>> scores, relevance = torch.tensor([0.9, 0.8, 0.3]), torch.tensor([1, 0, 2])
        >>> # 1/1 · 1/4 + 1/3 · 3/4 · (1 − 1/4)
        >>> round(expected_reciprocal_rank(scores, relevance, max_relevance=2).item(), 4)
        0.4375

    Reference:
        Chapelle, Metzler, Zhang and Grinspan 2009, "Expected Reciprocal Rank for Graded
        Relevance".
    """
    return evaluate(
        expected_reciprocal_rank, scores, target, shared, k=k, max_relevance=max_relevance
    )


@computed_by(
    Kernel(_rank_biased_precision, _check_rbp, name="rbp", pairs=False, depth=_depth_of_rbp)
)
def rank_biased_precision(
    scores: Array,
    target: Array,
    *,
    p: float = 0.8,
    k: int | None = None,
    **shared: Unpack[Shared[Array]],
) -> Array:
    """Compute RBP, the rate at which a user finds relevant items who reads on with chance p.

    RBP = (1 − p) Σ_r y_(r) p^(r−1). It is not normalized: n⁺ relevant items at the top give
    1 − p^n⁺. Items that are not in the list could add at most p^n.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        p: Chance to read the next item, in (0, 1).
        k: Number of first ranks that count; None is the whole list.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import rank_biased_precision
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> rank_biased_precision(scores, target, p=0.5).item()  # 0.5 · (1 + 0.5²)
        0.625

    Reference:
        Moffat and Zobel 2008, "Rank-Biased Precision for Measurement of Retrieval Effectiveness".
    """
    return evaluate(rank_biased_precision, scores, target, shared, p=p, k=k)


@computed_by(Kernel(_inst, _check_inst, pairs=False, every_item=True))
def inst(
    scores: Array, target: Array, *, wanted: float = 1.0, **shared: Unpack[Shared[Array]]
) -> Array:
    """Compute INST, the gain rate of a user who wants T relevant items and reads until then.

    INST = Σ_i W_i y_(i), W_{i+1}/W_i = ((i + T + T_i − 1)/(i + T + T_i))², ΣW = 1, where T_i = T −
    Σ_{j≤i} y_(j) is what is still wanted. The weights are those of an endless list with nothing
    relevant behind the last item. Each rank of tied items holds their mean relevance. Weights must
    be whole numbers.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        wanted: Number T of relevant items that the user wants, at least 1.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import inst
        >>> scores = torch.tensor([0.9, 0.8, 0.3, 0.1])
        >>> round(inst(scores, torch.tensor([1, 0, 0, 0])).item(), 4)  # 1/Σ 1/i²: 6/π²
        0.6079
        >>> round(inst(scores, torch.tensor([0, 1, 0, 0])).item(), 4)
        0.2071

    Reference:
        Moffat, Bailey, Scholer and Thomas 2015, "INST: An Adaptive Metric for Information
        Retrieval Evaluation".
    """
    return evaluate(inst, scores, target, shared, wanted=wanted)
