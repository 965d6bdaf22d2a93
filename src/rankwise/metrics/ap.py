"""Average precision and the area under the precision–recall curve."""

from __future__ import annotations

import math
from typing import Unpack

import torch
from torch import Tensor

from rankwise.checks import is_finite
from rankwise.metrics._counting import fast_average_precision
from rankwise.metrics._depth import first_k
from rankwise.metrics._setting import Kernel, Shared, computed_by, evaluate, require_cut
from rankwise.metrics.inputs import Array, to_tensor
from rankwise.metrics.intervals import Interval, normal_quantile
from rankwise.metrics.ranking import Ranking, ratio
from rankwise.metrics.top import precisions_through


def _mean_over_positives(ranking: Ranking, positives: Tensor, negatives: Tensor) -> Tensor:
    """Mean over positives of positives/(positives + negatives), both counted from the top."""
    # A level without positives has no say, and may have nothing above it: 0/0.
    precision = torch.where(ranking.positives > 0, ratio(positives, positives + negatives), 0.0)
    return (ranking.positives * precision).sum(-1) / ranking.n_positives.squeeze(-1)


def _least_over_positives(
    ranking: Ranking, apart: Tensor, positives: Tensor, step: Tensor | float, negatives: Tensor
) -> Tensor:
    """Return a lower bound of the same where the positives of some levels may not be tied.

    The precision is concave in the positives counted, ``step`` for each: its mean over them is at
    least that of the first and the last.
    """
    last = ratio(positives, positives + negatives)
    first = positives - (ranking.positives - 1).clamp_min(0) * step
    mean = torch.where(apart, (ratio(first, first + negatives) + last) / 2, last)
    return (ranking.positives * mean).sum(-1) / ranking.n_positives.squeeze(-1)


def _least_average_precision(ranking: Ranking, apart: Tensor, k: int | None) -> Tensor:
    if k is not None:  # the mean over orders of ties: positives gain nothing by being tied
        return _average_precision(ranking, k)
    negatives = ranking.negatives.cumsum(-1)
    return _least_over_positives(ranking, apart, ranking.positives.cumsum(-1), 1.0, negatives)


def _average_precision(ranking: Ranking, k: int | None) -> Tensor:
    if k is not None:
        ranking.require_counts("average_precision with k")
        return precisions_through(ranking, k) / ranking.n_positives.squeeze(-1)
    return _mean_over_positives(ranking, ranking.positives.cumsum(-1), ranking.negatives.cumsum(-1))


def _check_prior(prior: float) -> None:
    if not (is_finite(prior) and 0 < prior < 1):
        raise ValueError(f"prior must be a share of positives in (0, 1), got {prior!r}")


def _auprc(ranking: Ranking, prior: float) -> Tensor:
    tpr = ranking.positives.cumsum(-1) / ranking.n_positives
    fpr = ranking.negatives.cumsum(-1) / ranking.n_negatives
    return _mean_over_positives(ranking, prior * tpr, (1 - prior) * fpr)


def _least_auprc(ranking: Ranking, apart: Tensor, prior: float) -> Tensor:
    step = prior / ranking.n_positives
    fpr = ranking.negatives.cumsum(-1) / ranking.n_negatives
    positives = ranking.positives.cumsum(-1) * step
    return _least_over_positives(ranking, apart, positives, step, (1 - prior) * fpr)


@computed_by(
    Kernel(
        _average_precision,
        require_cut,
        name="ap",
        pairs=False,
        shortcut=fast_average_precision,
        depth=first_k,
        worst=_least_average_precision,
    )
)
def average_precision(
    scores: Array, target: Array, *, k: int | None = None, **shared: Unpack[Shared[Array]]
) -> Array:
    """Compute the average precision, as :func:`sklearn.metrics.average_precision_score`.

    AP = 1/n⁺ Σ_{i∈P} #{j∈P: s_j ≥ s_i} / #{j: s_j ≥ s_i}. Tied items all count as above, so both
    values of ``ties`` give the same number.

    With ``k`` only the first k ranks count, as in ``map_cut_k`` of trec_eval: AP@k = 1/n⁺ Σ_{r ≤ k}
    1[r-th is positive] · precision@r, at most k/n⁺. It is the mean over the orders of tied items,
    and weights must be whole numbers.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        k: Number of first ranks; None is the whole list.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import average_precision
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> round(average_precision(scores, target).item(), 4)  # ranks 1 and 3: (1/1 + 2/3)/2
        0.8333
        >>> round(average_precision(scores, target, k=2).item(), 4)  # the other has rank 3: (1/1)/2
        0.5

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.2.
    """
    return evaluate(average_precision, scores, target, shared, k=k)


@computed_by(Kernel(_auprc, _check_prior, worst=_least_auprc))
def auprc(scores: Array, target: Array, *, prior: float, **shared: Unpack[Shared[Array]]) -> Array:
    """Compute the area under the precision–recall curve of a population with a given prior.

    AUPRC = mean_{i∈P} π·TPR(s_i) / (π·TPR(s_i) + (1−π)·FPR(s_i))
    = 1 − mean_{i∈P} σ((1−π)/π · FPR(s_i)/TPR(s_i)), σ(x) = x/(1+x),
    the FPR and TPR with tied items as above. With π = n⁺/n this is :func:`average_precision`; with
    the π of the data set it does not depend on how a batch was sampled.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        prior: Share π of positives in the population, in (0, 1).

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import auprc
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> # TPR 1/2, FPR 0 at the first positive and TPR 1, FPR 1/2 at the second:
        >>> # (1 + 0.1/(0.1 + 0.9 · 0.5))/2
        >>> round(auprc(scores, target, prior=0.1).item(), 4)
        0.5909

    Reference:
        SOPRC, Eq. 2 and 3.
    """
    return evaluate(auprc, scores, target, shared, prior=prior)


def logit_interval(scores: Array, target: Array, *, level: float = 0.95) -> Interval:
    """Compute the interval of the average precision of one list on the logit scale.

    η ± z·τ with η = log(AP/(1 − AP)) and τ = 1/√(n⁺·AP·(1 − AP)), transformed back. It never leaves
    [0, 1]; it is NaN at AP = 1, where τ is infinite.

    Args:
        scores, target: One list, see :mod:`rankwise.metrics`.
        level: Confidence level.

    Returns:
        The average precision with its interval.

    Example:
        >>> import torch
        >>> from rankwise.metrics import logit_interval
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> found = logit_interval(scores, target)
        >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
        (0.8333, 0.1082, 0.9952)

    Reference:
        Boyd, Eng and Page 2013, "Area under the Precision-Recall Curve: Point Estimates and
        Confidence Intervals".
    """
    reach = normal_quantile(level)
    if to_tensor(scores).ndim != 1:
        raise ValueError(f"scores must be one list, got shape {tuple(scores.shape)}")
    value = float(average_precision(scores, target))
    if not value < 1:
        return Interval(value, math.nan, math.nan, level, "logit")
    n_positives = int(torch.count_nonzero(to_tensor(target)))
    center = math.log(value / (1 - value))
    error = 1 / math.sqrt(n_positives * value * (1 - value))
    low, high = (1 / (1 + math.exp(-center - side * reach * error)) for side in (-1, 1))
    return Interval(value, low, high, level, "logit")
