"""Precision–recall and ROC curves of one list."""

from __future__ import annotations

from typing import Generic, NamedTuple

import torch
from torch import Tensor

from rankwise.checks import warn_caller
from rankwise.metrics.inputs import Array, from_tensor, read_items
from rankwise.metrics.ranking import rank_present


class PrecisionRecallCurve(NamedTuple, Generic[Array]):
    """Precision and recall of "score ≥ threshold", by ascending threshold, then (1, 0).

    Attributes:
        precision, recall: One value per threshold, and a last point (1, 0).
        thresholds: Distinct scores, ascending.

    Example:
        >>> from rankwise.metrics import precision_recall_curve
        >>> precision_recall_curve([0.9, 0.8, 0.3], [1, 0, 1]).recall.tolist()
        [1.0, 0.5, 0.5, 0.0]
    """

    precision: Array
    recall: Array
    thresholds: Array


class RocCurve(NamedTuple, Generic[Array]):
    """False and true positive rates of "score ≥ threshold", by descending threshold from ∞.

    Attributes:
        fpr, tpr: One value per threshold.
        thresholds: Infinity, then distinct scores, descending.

    Example:
        >>> from rankwise.metrics import roc_curve
        >>> roc_curve([0.9, 0.8, 0.3], [1, 0, 1]).tpr.tolist()
        [0.0, 0.5, 0.5, 1.0]
    """

    fpr: Array
    tpr: Array
    thresholds: Array


def precision_recall_curve(
    scores: Array, target: Array, *, mask: Array | None = None, weight: Array | None = None
) -> PrecisionRecallCurve[Array]:
    """Compute the curve of :func:`sklearn.metrics.precision_recall_curve`.

    Args:
        scores, target, mask, weight: One list, see :mod:`rankwise.metrics`.

    Returns:
        Precision, recall and thresholds.

    Example:
        >>> import torch
        >>> from rankwise.metrics import precision_recall_curve
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> precision, recall, thresholds = precision_recall_curve(scores, target)
        >>> precision  # 2/4, 2/3, 1/2, 1/1 and the last point
        tensor([0.5000, 0.6667, 0.5000, 1.0000, 1.0000], dtype=torch.float64)
    """
    negatives, positives, thresholds = counts_through(scores, target, mask, weight)
    n_positives = positives[-1:]
    precision = torch.cat([(positives / (positives + negatives)).flip(0), n_positives.new_ones(1)])
    recall = torch.cat([(positives / n_positives).flip(0), n_positives.new_zeros(1)])
    curve = (precision, recall, thresholds.flip(0))
    return PrecisionRecallCurve(*(from_tensor(part, scores) for part in curve))


def roc_curve(
    scores: Array,
    target: Array,
    *,
    mask: Array | None = None,
    weight: Array | None = None,
    drop_intermediate: bool = True,
) -> RocCurve[Array]:
    """Compute the curve of :func:`sklearn.metrics.roc_curve`.

    Args:
        scores, target, mask, weight: One list, see :mod:`rankwise.metrics`.
        drop_intermediate: Whether to leave out points on the line between their neighbors.

    Returns:
        False positive rates, true positive rates and thresholds.

    Example:
        >>> import torch
        >>> from rankwise.metrics import roc_curve
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> fpr, tpr, thresholds = roc_curve(scores, target)
        >>> fpr.tolist(), tpr.tolist()
        ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    negatives, positives, thresholds = counts_through(scores, target, mask, weight)
    if drop_intermediate and len(thresholds) > 2:
        corner = (negatives.diff(n=2) != 0) | (positives.diff(n=2) != 0)
        kept = torch.nn.functional.pad(corner, (1, 1), value=True)
        negatives, positives, thresholds = negatives[kept], positives[kept], thresholds[kept]
    start = negatives.new_zeros(1)
    return RocCurve(
        from_tensor(torch.cat([start, negatives]) / negatives[-1], scores),
        from_tensor(torch.cat([start, positives]) / positives[-1], scores),
        from_tensor(torch.cat([thresholds.new_full((1,), torch.inf), thresholds]), scores),
    )


def counts_through(
    scores: Array, target: Array, mask: Array | None, weight: Array | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return negative and positive mass at or above every distinct score, descending."""
    items = read_items(scores, target, mask, None, weight).checked(graded=False)
    if items.scores.ndim != 1:
        raise ValueError(
            f"scores must be one list for a curve, got shape {tuple(items.scores.shape)}"
        )
    ranking = rank_present(items)
    if ranking.levels == 0:
        raise ValueError("scores must not be empty for a curve")
    positives, negatives = ranking.positives[0].cumsum(0), ranking.negatives[0].cumsum(0)
    if positives[-1] == 0 or negatives[-1] == 0:
        warn_caller("the list has only one class: the rates of the other are NaN")
    first = ranking.level[0].diff(prepend=ranking.level.new_tensor([-1])) > 0
    return negatives, positives, ranking.scores[0][first]
