"""Metrics of one operating point: the best rate that a threshold has under a limit on another.

A threshold lies between two distinct scores, above all of them or below all of them: rows with
equal scores are flagged together. So ``ties`` makes no difference here.
"""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor

from rankwise.checks import is_finite
from rankwise.metrics._depth import first_share
from rankwise.metrics._setting import Kernel, Shared, computed_by, evaluate
from rankwise.metrics.inputs import Array
from rankwise.metrics.ranking import Ranking, ratio

ROUNDING = 1e-10  # of sums of weights: 0.3 of 10 rows are 3, whatever the product's last digit


def require_rate(name: str, value: float, *, zero: bool) -> None:
    """Raise on a limit that is not a share, or that every threshold meets or none."""
    is_share = is_finite(value) and not isinstance(value, bool) and 0 <= value <= 1
    if not is_share or (value == 0 and not zero):
        raise ValueError(f"{name} must be in {'[' if zero else '('}0, 1], got {value!r}")


def _check_recall(min_recall: float) -> None:
    require_rate("min_recall", min_recall, zero=False)


def _check_precision(min_precision: float) -> None:
    require_rate("min_precision", min_precision, zero=False)


def _check_fpr(max_fpr: float) -> None:
    require_rate("max_fpr", max_fpr, zero=True)


def _check_tpr(min_tpr: float) -> None:
    require_rate("min_tpr", min_tpr, zero=False)


def _rates(ranking: Ranking) -> tuple[Tensor, Tensor, Tensor]:
    """Return TPR, FPR and precision of the threshold below every level, (rows, levels) each."""
    true, false = ranking.positives.cumsum(-1), ranking.negatives.cumsum(-1)
    # By the last sum rather than the total: the lowest threshold has rates of exactly 1.
    return true / true[..., -1:], false / false[..., -1:], ratio(true, true + false)


def _precision_at_recall(ranking: Ranking, min_recall: float) -> Tensor:
    recall, _, precision = _rates(ranking)
    return torch.where(recall >= min_recall - ROUNDING, precision, 0.0).amax(-1)


def _recall_at_precision(ranking: Ranking, min_precision: float) -> Tensor:
    recall, _, precision = _rates(ranking)
    return torch.where(precision >= min_precision - ROUNDING, recall, 0.0).amax(-1)


def _tpr_at_fpr(ranking: Ranking, max_fpr: float) -> Tensor:
    tpr, fpr, _ = _rates(ranking)
    return torch.where(fpr <= max_fpr + ROUNDING, tpr, 0.0).amax(-1)


def _fpr_at_tpr(ranking: Ranking, min_tpr: float) -> Tensor:
    tpr, fpr, _ = _rates(ranking)
    return torch.where(tpr >= min_tpr - ROUNDING, fpr, 1.0).amin(-1)


def _depth_of_fpr(ranking: Ranking, max_fpr: float) -> float:
    return first_share(ranking.mass, ranking.negatives, max_fpr)


def _depth_of_tpr(ranking: Ranking, min_tpr: float) -> float:
    return first_share(ranking.mass, ranking.positives, min_tpr)


@computed_by(Kernel(_precision_at_recall, _check_recall, smooth=False))
def precision_at_recall(
    scores: Array, target: Array, *, min_recall: float, **shared: Unpack[Shared[Array]]
) -> Array:
    """Compute the highest precision of a threshold whose recall is at least ``min_recall``.

    max_t { precision(t) : recall(t) ≥ min_recall }, over thresholds t between distinct scores.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`; ``ties``
            makes no difference.
        min_recall: Share of the positives that must be found, in (0, 1].

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import precision_at_recall
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> round(precision_at_recall(scores, target, min_recall=0.9).item(), 4)  # 2 of the first 3
        0.6667
    """
    return evaluate(precision_at_recall, scores, target, shared, min_recall=min_recall)


@computed_by(Kernel(_recall_at_precision, _check_precision, smooth=False))
def recall_at_precision(
    scores: Array, target: Array, *, min_precision: float, **shared: Unpack[Shared[Array]]
) -> Array:
    """Compute the highest recall of a threshold whose precision is at least ``min_precision``.

    max_t { recall(t) : precision(t) ≥ min_precision }, over thresholds t between distinct scores.
    Where no threshold has that precision the value is 0: the recall of flagging no row.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`; ``ties``
            makes no difference.
        min_precision: Share of positives that the flagged rows must have, in (0, 1].

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import recall_at_precision
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> recall_at_precision(scores, target, min_precision=0.6).item()  # the first 3 have 2/3
        1.0
        >>> recall_at_precision(-scores, target, min_precision=0.6).item()  # none has: no row
        0.0
    """
    return evaluate(recall_at_precision, scores, target, shared, min_precision=min_precision)


@computed_by(Kernel(_tpr_at_fpr, _check_fpr, depth=_depth_of_fpr, smooth=False))
def tpr_at_fpr(
    scores: Array, target: Array, *, max_fpr: float, **shared: Unpack[Shared[Array]]
) -> Array:
    """Compute the highest true positive rate at a false positive rate of at most ``max_fpr``.

    max_t { TPR(t) : FPR(t) ≤ max_fpr }, over thresholds t between distinct scores; a step of the
    ROC curve is not interpolated. Where a negative is among the highest scores and ``max_fpr``
    allows none, the value is 0: the rate of flagging no row.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`; ``ties``
            makes no difference.
        max_fpr: Share of the negatives that may be flagged, in [0, 1].

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import tpr_at_fpr
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> tpr_at_fpr(scores, target, max_fpr=0.1).item()  # 0.9, and none of the 2 negatives
        0.5
    """
    return evaluate(tpr_at_fpr, scores, target, shared, max_fpr=max_fpr)


@computed_by(
    Kernel(_fpr_at_tpr, _check_tpr, depth=_depth_of_tpr, smooth=False, higher_is_better=False)
)
def fpr_at_tpr(
    scores: Array, target: Array, *, min_tpr: float, **shared: Unpack[Shared[Array]]
) -> Array:
    """Compute the lowest false positive rate at a true positive rate of at least ``min_tpr``.

    min_t { FPR(t) : TPR(t) ≥ min_tpr }, over thresholds t between distinct scores. **Lower is
    better**: with ``min_tpr=0.95`` it is the FPR95 of out-of-distribution detection.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`; ``ties``
            makes no difference.
        min_tpr: Share of the positives that must be found, in (0, 1].

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import fpr_at_tpr
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> fpr_at_tpr(scores, target, min_tpr=0.95).item()  # both positives, and 1 of 2 negatives
        0.5
    """
    return evaluate(fpr_at_tpr, scores, target, shared, min_tpr=min_tpr)
