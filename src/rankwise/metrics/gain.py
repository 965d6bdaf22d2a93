"""Precision–recall–gain curves and the area under them."""

from __future__ import annotations

import math
from typing import Generic, NamedTuple, Unpack

import torch
from torch import Tensor

from rankwise.metrics._setting import Kernel, Shared, computed_by, evaluate
from rankwise.metrics.curves import counts_through
from rankwise.metrics.inputs import Array, from_tensor
from rankwise.metrics.ranking import Ranking, mass_above, ratio


class PrecisionRecallGainCurve(NamedTuple, Generic[Array]):
    """Precision gain and recall gain of "score ≥ threshold", by descending threshold.

    Attributes:
        precision_gain, recall_gain: One value per threshold, from recall gain 0 on.
        thresholds: Distinct scores, descending. The first point is between two thresholds where
            none has the recall gain 0; it has the lower one.

    Example:
        >>> from rankwise.metrics import precision_recall_gain_curve
        >>> precision_recall_gain_curve([0.9, 0.8, 0.3, 0.1], [1, 0, 1, 0]).recall_gain.tolist()
        [0.0, 0.0, 1.0, 1.0]
    """

    precision_gain: Array
    recall_gain: Array
    thresholds: Array


def precision_recall_gain_curve(
    scores: Array, target: Array, *, mask: Array | None = None, weight: Array | None = None
) -> PrecisionRecallGainCurve[Array]:
    """Compute the precision–recall–gain curve.

    precG = (prec − π)/((1 − π)·prec), recG = (rec − π)/((1 − π)·rec), π the share of positives:
    0 is what "all are positive" reaches, 1 is the best. Points between thresholds are on the line
    between theirs, unlike in a precision–recall curve.

    Args:
        scores, target, mask, weight: One list with both classes, see :mod:`rankwise.metrics`.

    Returns:
        Precision gains, recall gains and thresholds, from recall gain 0 to 1.

    Raises:
        ValueError: The list has only one class.

    Example:
        >>> import torch
        >>> from rankwise.metrics import precision_recall_gain_curve
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> precision_recall_gain_curve(scores, target).precision_gain  # 1 − FP/TP, where π = 1/2
        tensor([1.0000, 0.0000, 0.5000, 0.0000], dtype=torch.float64)

    Reference:
        Flach and Kull 2015, "Precision-Recall-Gain Curves: PR Analysis Done Right".
    """
    negatives, positives, thresholds = counts_through(scores, target, mask, weight)
    if positives[-1] == 0 or negatives[-1] == 0:
        raise ValueError(
            "target must hold both classes for a precision–recall–gain curve, got "
            f"{float(positives[-1]):g} positives and {float(negatives[-1]):g} negatives"
        )
    odds, start = _odds_and_start(positives[-1], negatives[-1])
    inside = positives >= start
    first = int(inside.long().argmax())
    tp, fp, at = positives[inside], negatives[inside], thresholds[inside]
    if positives[first] > start:
        before_tp, before_fp = (
            (x[first - 1] if first else x.new_zeros(())) for x in (positives, negatives)
        )
        share = (start - before_tp) / (positives[first] - before_tp)
        crossing = before_fp + share * (negatives[first] - before_fp)
        tp, fp = torch.cat([start[None], tp]), torch.cat([crossing[None], fp])
        at = torch.cat([at[:1], at])
    curve = (1 - odds * fp / tp, 1 - odds * (positives[-1] / tp - 1), at)
    return PrecisionRecallGainCurve(*(from_tensor(part, scores) for part in curve))


def _odds_and_start(n_positives: Tensor, n_negatives: Tensor) -> tuple[Tensor, Tensor]:
    """Return π/(1 − π), and the positives found where the recall is π, the recall gain 0."""
    return n_positives / n_negatives, n_positives**2 / (n_positives + n_negatives)


def _auprg(ranking: Ranking) -> Tensor:
    odds, start = _odds_and_start(ranking.n_positives, ranking.n_negatives)
    through, false = ranking.positives.cumsum(-1), ranking.negatives.cumsum(-1)
    # Both gains are linear in 1/TP between two levels, so the area is that of a trapezoid.
    before, false_before = mass_above(ranking.positives), mass_above(ranking.negatives)
    left = torch.maximum(before, start)
    pace = ratio(ranking.negatives, ranking.positives)
    false_left = false_before + (left - before) * pace
    width = odds * ranking.n_positives * (ratio(torch.ones_like(left), left) - ratio(
        torch.ones_like(through), through
    ))  # fmt: skip
    height = 1 - odds * (ratio(false_left, left) + ratio(false, through)) / 2
    area = torch.where(through > left, width * height, 0.0).sum(-1)
    return area.clamp_max(1.0)  # rounding of the widths, which add up to 1


@computed_by(Kernel(_auprg, least=-math.inf))
def auprg(scores: Array, target: Array, **shared: Unpack[Shared[Array]]) -> Array:
    """Compute the area under the precision–recall–gain curve.

    It is the expected precision gain over the recall gains from 0 to 1. All items tied have 0,
    whatever the share of positives, and 1 is the best; a ranking that is worse than "all are
    positive" is below 0. Tied items are a line of the curve; ``ties="against"`` puts the negatives
    first.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import auprg
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> auprg(scores, target).item()  # from (0, 0) to (1, 1/2): 1 · (0 + 1/2)/2
        0.25

    Reference:
        Flach and Kull 2015, "Precision-Recall-Gain Curves: PR Analysis Done Right".
    """
    return evaluate(auprg, scores, target, shared)
