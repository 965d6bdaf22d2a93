"""Rank & Sort loss of detectors: positives above negatives, and by the quality of their boxes."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from rankwise.baselines.detection import ErrorDrivenStep
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction
from rankwise.pairs import pair_sum
from rankwise.pairs.ordered import pair_sum_below
from rankwise.pairs.rows import accumulating

_NO_ERRORS = 1e-10  # positives of lower quality above a positive below which it is sorted


class RankSort(Objective):
    """Rank & Sort loss: positives rank above negatives and are sorted by their soft labels.

    The loss is mean_{i∈P} (R_i + S_i − S*_i). The target y is 0 for a negative and a label in (0,
    1] for a positive, in detection the IoU of its box with the object. With H the step as a line
    between −δ and δ, N_i = Σ_{j∈N} H(s_j − s_i) and n_i = Σ_{j∈P} H(s_j − s_i), the ranking error
    is R_i = N_i/(n_i + N_i) and the sorting error S_i = Σ_{j∈P} H(s_j − s_i)(1 − y_j)/n_i. S*_i is
    the same over the positives with y_j ≥ y_i only: the error if i were in its place. As in the
    authors' code, an item counts as H(0) = ½ in its own sums.

    The gradient is not a derivative but the identity update: positive i goes up by its errors; its
    negatives go down by their shares H/N_i of R_i, and the positives of lower label above it by
    their shares of S_i − S*_i. With labels of 0 and 1 only the ranking error is left.

    The authors' code takes n⁺·n steps. The bucketed form of Yavuz et al. has the same value and
    gradient from negatives that are grouped between sorted positives, in n log n + n⁺². Here all
    sums are sorted sums of :mod:`rankwise.pairs`, n log n over the negatives and n⁺ log² n⁺ over
    the positives: what the bucketed form computes, with the width δ of the step and ties exact.

    Args:
        delta: Half width δ of the step; 0.5 in the authors' code (kemaloksuz/RankSortLoss,
            ``ranking_losses.py``).
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import RankSort
        >>> scores = torch.tensor([4.0, 2.0, 0.0], requires_grad=True)
        >>> loss = RankSort()(scores, torch.tensor([0.5, 1.0, 0.0]))
        >>> loss.backward()
        >>> # of the second positive S = (1 · 0.5 + 0)/1.5 and S* = 0; of the first S = S*
        >>> round(loss.item(), 4), scores.grad
        (0.1667, tensor([ 0.1667, -0.1667,  0.0000]))

    Reference:
        Oksuz et al. 2021, "Rank & Sort loss for object detection and instance segmentation", Eq.
        6–10; Yavuz et al. 2024, "Bucketed ranking-based losses for efficient training of object
        detectors".
    """

    graded: ClassVar[bool] = True
    soft_labels: ClassVar[bool] = True

    def __init__(self, delta: float = 0.5, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.step = ErrorDrivenStep(delta)

    def risk(self, lists: Lists) -> Tensor:
        above = pair_sum(self.step, lists.positives, lists.negatives, weight=lists.negative_weight)
        # In double precision: sums over all positives less those over nearly all of them.
        positives, weight = accumulating(lists.positives), accumulating(lists.positive_weight)
        label = accumulating(lists.relevances[:, : positives.shape[-1]])
        missorted = pair_sum_below(self.step, positives, label, weight=weight)
        with torch.no_grad():
            lost = weight * (1 - label)
            among = pair_sum(self.step, positives, positives, weight=weight)
            error = pair_sum(self.step, positives, positives, weight=lost)
            of_missorted = pair_sum_below(self.step, positives, label, weight=lost)
            sorting = error / _some(among) - (error - of_missorted) / _some(among - missorted)
            wrong = missorted > _NO_ERRORS
            share = torch.where(wrong, sorting / torch.where(wrong, missorted, 1), 0)
            rank = _some(among + above)
        values = above / rank + share * missorted
        return lists.mean_over_positives(values.to(lists.positive_weight.dtype))


def _some(mass: Tensor) -> Tensor:
    """Return a sum that has the item itself; 1 for padding, which may have nothing above it."""
    return torch.where(mass > 0, mass, 1)
