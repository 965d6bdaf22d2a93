"""Binary cross-entropy, plain and class-balanced."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid

from rankwise.baselines.class_weights import Counts, checked_counts, effective_number_weights
from rankwise.baselines.itemwise import ItemwiseObjective, toward_truth
from rankwise.checks import values_are_checked
from rankwise.eager import eager_only
from rankwise.objectives._batch import CallArguments
from rankwise.objectives.base import Reduction

__all__ = ["ClassBalanced", "CrossEntropy"]

_MEAN = 1  # torch's number for the mean over all items


class CrossEntropy(ItemwiseObjective):
    """mean over items of −y log σ(s) − (1−y) log(1 − σ(s)). A list of one class counts, too.

    A label may be any share between 0 and 1: smoothed, mixed, or the word of another model.
    """

    soft = True

    def item_loss(self, scores: Tensor, target: Tensor) -> Tensor:
        return binary_cross_entropy_with_logits(scores, target.to(scores.dtype), reduction="none")

    def forward(
        self,
        scores: Tensor,
        target: Tensor,
        *,
        mask: Tensor | None = None,
        groups: Tensor | None = None,
        weight: Tensor | None = None,
        list_ids: Tensor | None = None,
        item_ids: Tensor | None = None,
    ) -> Tensor:
        """The mean over the items of every list, and over the lists."""
        # Whole lists of one length are one call of torch's own loss: all there is to gain here.
        plain = mask is None and groups is None and weight is None
        if plain and self.exchange is None and self.reduction == "mean":
            # A graph can hold it where no value is looked at.
            breaks = torch.compiler.is_dynamo_compiling() and values_are_checked()
            value = (_eager if breaks else _of_whole_lists)(scores, target)
            if value is not None:
                return value
        arguments = CallArguments(mask, groups, weight, list_ids, item_ids)
        return self.evaluate(scores, target, arguments)


class ClassBalanced(ItemwiseObjective):
    """mean over items of w_y · cross-entropy, w_y ∝ (1 − β)/(1 − β^{n_y})   (Cui et al. 2019).

    ``counts`` are how many negatives and positives the training set has, in this order, and the two
    weights sum to 2; β = 0.9999 is the published choice for long tails (0 is plain cross-entropy,
    toward 1 it is inverse frequency). A list of one class counts, too.
    """

    class_weight: Tensor  # of the negatives and of the positives

    def __init__(
        self, counts: Counts, beta: float = 0.9999, *, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        values = checked_counts(counts)
        if len(values) != 2:
            raise ValueError(
                f"counts must be two, of the negatives and of the positives, got {len(values)}; "
                "for logits of several classes use LDAM or OneVsRest"
            )
        weights = effective_number_weights(values, beta)
        self.register_buffer("class_weight", weights, persistent=False)
        self.beta = beta

    def item_loss(self, scores: Tensor, target: Tensor) -> Tensor:
        weight = self.class_weight.to(scores.dtype)[target.long()]
        return -logsigmoid(toward_truth(scores, target)) * weight


def _of_whole_lists(scores: Tensor, target: Tensor) -> Tensor | None:
    """The mean over all items; None for what the general way has to look at, or to refuse."""
    dtype, shape = scores.dtype, scores.shape
    if not shape or shape != target.shape or scores.numel() == 0:
        return None
    if not values_are_checked() and dtype is target.dtype is torch.float32:
        return torch.binary_cross_entropy_with_logits(scores, target, reduction=_MEAN)
    if not dtype.is_floating_point or scores.device != target.device:
        return None
    if dtype is not torch.float32:
        dtype = torch.promote_types(dtype, torch.float32)
        scores = scores.to(dtype)
    truth = target if target.dtype is dtype else target.to(dtype)
    value = torch.binary_cross_entropy_with_logits(scores, truth, reduction=_MEAN)
    if not values_are_checked():
        return value
    low, high = truth.aminmax()
    # A score that is no finite number shows in the value.
    if low.item() >= 0 and high.item() <= 1 and math.isfinite(value.item()):
        return value
    return None


_eager = eager_only(_of_whole_lists)
