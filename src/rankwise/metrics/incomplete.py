"""Metrics of lists in which not every item has been labeled: bpref and inferred AP."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor

from rankwise.metrics._setting import Kernel, Shared, computed_by, evaluate
from rankwise.metrics.inputs import OUTSIDE, Array
from rankwise.metrics.ranking import Ranking, mass_above, ratio

_EPSILON = 1e-5  # of trec_eval: no label above is neither relevant nor not


def _bpref(ranking: Ranking) -> Tensor:
    ranking.require_counts("bpref")
    positives, negatives = ranking.of_target(1), ranking.of_target(0)
    return preferred(positives, negatives, positives.sum(-1), negatives.sum(-1))


def preferred(
    positives: Tensor, negatives: Tensor, n_positives: Tensor, n_negatives: Tensor
) -> Tensor:
    """Return bpref of lists by level, where more of both classes may be outside of the list."""
    most = torch.minimum(n_positives, n_negatives).unsqueeze(-1)
    above = mass_above(negatives).clamp_max(most)
    # A positive among z tied negatives has 0, 1, … or z of them above it, all alike.
    free = torch.minimum(negatives, most - above)
    counted = (free + 1) * (above + free / 2) + (negatives - free) * most
    above = counted / (negatives + 1)
    return (positives * (1 - ratio(above, most))).sum(-1) / n_positives


def _inferred_average_precision(ranking: Ranking) -> Tensor:
    ranking.require_counts("inferred_average_precision")
    positives, negatives = ranking.of_target(1), ranking.of_target(0)
    pool = ranking.mass - ranking.of_target(OUTSIDE)
    return inferred(positives, negatives, pool, ranking.mass) / positives.sum(-1)


def inferred(positives: Tensor, negatives: Tensor, pool: Tensor, mass: Tensor) -> Tensor:
    """Return the sum over the positives of their estimated precisions, by level."""
    rank = mass.cumsum(-1)
    relevant, other = positives.cumsum(-1) - 1, negatives.cumsum(-1)
    pooled = pool.cumsum(-1) - 1  # the other items of the pool above, labeled or not
    share = (relevant + _EPSILON) / (relevant + other + 2 * _EPSILON)
    # A level without positives has no say, and may have nothing above it.
    precision = torch.where(positives > 0, ratio(1 + pooled * share, rank), 0.0)
    return (positives * precision).sum(-1)


@computed_by(Kernel(_bpref, pairs=False, unlabeled=True))
def bpref(scores: Array, target: Array, **shared: Unpack[Shared[Array]]) -> Array:
    """Compute bpref, how seldom items known not to be relevant are above the relevant ones.

    bpref = 1/R Σ_{relevant i} (1 − min(#{j not relevant: s_j > s_i}, B)/B), B = min(R, N), with R
    and N the numbers of items labeled relevant and not relevant. Items without a label have no
    influence. With ties it is the mean over the orders of the tied items. Weights must be whole
    numbers.

    Args:
        scores, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        target: 1 for relevant, 0 for not relevant, −1 or −2 for items without a label.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import bpref
        >>> scores = torch.tensor([0.9, 0.8, 0.7, 0.3, 0.1])
        >>> target = torch.tensor([1, -1, 0, 1, 0])
        >>> bpref(scores, target).item()  # none above the first, 1 of 2 above the second
        0.75

    Reference:
        Buckley and Voorhees 2004, "Retrieval Evaluation with Incomplete Information", in the form
        of trec_eval.
    """
    return evaluate(bpref, scores, target, shared)


@computed_by(Kernel(_inferred_average_precision, name="infap", pairs=False, unlabeled=True))
def inferred_average_precision(
    scores: Array, target: Array, **shared: Unpack[Shared[Array]]
) -> Array:
    """Compute infAP, an estimate of average precision where a random part of the pool is labeled.

    infAP = 1/R Σ_{relevant i} (1/k + |pool|/k · (r + ε)/(r + n + 2ε)), k the rank of i, above it
    |pool| items of the pool, r of them labeled relevant and n not relevant, ε = 10⁻⁵. With labels
    for all items it is the average precision but for ε. Tied items all count as above, as in
    :func:`average_precision`, so both values of ``ties`` give the same number. Weights must be
    whole numbers.

    Args:
        scores, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        target: 1 for relevant, 0 for not relevant, −1 for an item of the pool without a label, −2
            for an item outside of the pool, which is taken as not relevant.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import inferred_average_precision
        >>> scores = torch.tensor([0.9, 0.8, 0.7, 0.3])
        >>> target = torch.tensor([1, 0, -1, 1])
        >>> # 1/1, then 1/4 + 3/4 · 1/2: of the two labels above one is relevant
        >>> round(inferred_average_precision(scores, target).item(), 4)
        0.8125

    Reference:
        Yilmaz and Aslam 2006, "Estimating Average Precision with Incomplete and Imperfect
        Judgments", in the form of trec_eval.
    """
    return evaluate(inferred_average_precision, scores, target, shared)
