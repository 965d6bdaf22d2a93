"""Binary cross-entropy, plain and class-balanced."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from rankwise.baselines.class_weights import Counts, checked_counts, effective_number_weights
from rankwise.baselines.itemwise import ItemwiseObjective
from rankwise.checks import is_binary

__all__ = ["ClassBalanced", "CrossEntropy"]

_MEAN = 1  # torch's number for the mean over all items
_SHORT = 8192  # so many labels are compared with their squares faster than they are subtracted


class CrossEntropy(ItemwiseObjective):
    """mean over items of −y log σ(s) − (1−y) log(1 − σ(s)). A list of one class counts, too."""

    def item_loss(self, toward: Tensor, positive: Tensor) -> Tensor:
        return -logsigmoid(toward)

    def forward(
        self,
        scores: Tensor,
        target: Tensor,
        *,
        mask: Tensor | None = None,
        groups: Tensor | None = None,
        weight: Tensor | None = None,
        index: Tensor | None = None,
    ) -> Tensor:
        """The mean over the items of every list, and over the lists."""
        # Whole lists of one length are one call of torch's own loss: all there is to gain here.
        if mask is None and groups is None and weight is None and self.exchange is None:
            value = _of_whole_lists(scores, target)
            if value is not None:
                return value
        return self.evaluate(scores, target, mask=mask, groups=groups, weight=weight, index=index)


class ClassBalanced(ItemwiseObjective):
    """mean over items of w_y · cross-entropy, w_y ∝ (1 − β)/(1 − β^{n_y})   (Cui et al. 2019).

    ``counts`` are how many negatives and positives the training set has, in this order, and the two
    weights sum to 2; β = 0.9999 is the published choice for long tails (0 is plain cross-entropy,
    towards 1 it is inverse frequency). A list of one class counts, too.
    """

    class_weight: Tensor  # of the negatives and of the positives

    def __init__(self, counts: Counts, beta: float = 0.9999) -> None:
        super().__init__()
        values = checked_counts(counts)
        if len(values) != 2:
            raise ValueError(
                f"counts must be two, of the negatives and of the positives, got {len(values)}; "
                "for logits of several classes use LDAM or OneVsRest"
            )
        weights = effective_number_weights(values, beta)
        self.register_buffer("class_weight", weights, persistent=False)
        self.beta = beta

    def item_loss(self, toward: Tensor, positive: Tensor) -> Tensor:
        return -logsigmoid(toward) * self.class_weight.to(toward.dtype)[positive.long()]


def _of_whole_lists(scores: Tensor, target: Tensor) -> Tensor | None:
    """The mean over all items; None for what the general way has to look at, or to refuse."""
    dtype = scores.dtype
    if scores.shape != target.shape or scores.device != target.device or scores.dim() == 0:
        return None
    if dtype is not torch.float32:
        if not dtype.is_floating_point:
            return None
        dtype = torch.promote_types(dtype, torch.float32)
        scores = scores.to(dtype)
    truth = target if target.dtype is dtype else target.to(dtype)
    if truth.numel() <= _SHORT:
        right = torch.equal(truth * truth, truth)  # ∞ passes here, and shows in the value
    else:
        right = is_binary(truth, whole=not target.is_floating_point())
    if right:
        value = torch.binary_cross_entropy_with_logits(scores, truth, reduction=_MEAN)
        # A score that is no finite number shows in the value.
        if math.isfinite(value.item()):
            return value
    return None
