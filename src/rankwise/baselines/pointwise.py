"""Pointwise losses: a mean over items, as a classifier is usually trained."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid

from rankwise.checks import is_finite, require_number, require_values, values_are_checked
from rankwise.eager import eager_only
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives._batch import Batch, CallArguments
from rankwise.objectives.base import Reduction

_MEAN = 1  # torch's number for the mean over all items


class PointwiseObjective(Objective):
    """Base class of losses that are a weighted mean of ℓ(item) over the items of a list.

    An item has a loss independent of its list, so a list of one class counts here like any other (a
    ranking objective leaves it out); only a list without items contributes nothing. A subclass
    implements :meth:`item_loss`.
    """

    twice_differentiable = True
    pointwise: ClassVar[bool] = True

    @abstractmethod
    def item_loss(self, scores: Tensor, target: Tensor) -> Tensor:
        """Return ℓ of items with these logits and labels."""

    def risk(self, lists: Lists) -> Tensor:
        assert lists.relevance is not None
        return lists.mean_over_positives(self.item_loss(lists.positives, lists.relevance))

    def split(self, batch: Batch, scale: Tensor | float) -> tuple[Lists, Tensor | None]:
        """Return all items as positives, with their 0/1 labels as relevance, without sorting them.

        The scores are logits and are not scaled.
        """
        scores, target = batch.scores, batch.target
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        weights = torch.ones_like(scores) if batch.weight is None else batch.weight.to(scores.dtype)
        if batch.mask is not None:
            scores, target, weights = (
                t.masked_fill(~batch.mask, 0) for t in (scores, target, weights)
            )
        nothing = scores[:, :0]
        lists = Lists(scores, nothing, weights, nothing, list_ids=batch.list_ids, relevance=target)
        counts = lists.n_positives.squeeze(-1) > 0
        return (lists, None) if bool(counts.all()) else (lists.select(counts), counts)


def true_class_logit(scores: Tensor, target: Tensor) -> Tensor:
    """Return the logit of the true class, s or −s."""
    return torch.where(target > 0, scores, -scores)


class CrossEntropy(PointwiseObjective):
    """Binary cross-entropy: the mean over items of −y log σ(s) − (1−y) log(1 − σ(s)).

    A label may be any share between 0 and 1: smoothed, mixed, or predicted by another model. A list
    of one class counts, too.

    Args:
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import CrossEntropy
        >>> CrossEntropy()(torch.zeros(2), torch.tensor([1, 0]))  # log(2)
        tensor(0.6931)
    """

    soft_labels = True

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
        previous_scores: Tensor | None = None,
    ) -> Tensor:
        """Compute the mean over items and lists; see :meth:`Objective.forward`."""
        # Whole lists of one length are one call of torch's own loss, which is faster.
        plain = all(given is None for given in (mask, groups, weight, previous_scores))
        if plain and self.exchange is None and self.reduction == "mean":
            # It compiles into one graph if no value is checked.
            breaks = torch.compiler.is_dynamo_compiling() and values_are_checked()
            value = (_eager if breaks else _of_whole_lists)(scores, target)
            if value is not None:
                return value
        arguments = CallArguments(mask, groups, weight, list_ids, item_ids, previous_scores)
        return self.evaluate(scores, target, arguments)


def _of_whole_lists(scores: Tensor, target: Tensor) -> Tensor | None:
    """Return the mean over all items; None for arguments that the general call has to check."""
    dtype, shape = scores.dtype, scores.shape
    if not shape or shape != target.shape or scores.numel() == 0:
        return None
    if not values_are_checked() and dtype is target.dtype is torch.float32:
        return torch.binary_cross_entropy_with_logits(scores, target, reduction=_MEAN)
    if not dtype.is_floating_point or scores.device != target.device:
        return None
    if values_are_checked():
        require_values("scores", scores)
        require_values("target", target)
    if dtype is not torch.float32:
        dtype = torch.promote_types(dtype, torch.float32)
        scores = scores.to(dtype)
    truth = target if target.dtype is dtype else target.to(dtype)
    value = torch.binary_cross_entropy_with_logits(scores, truth, reduction=_MEAN)
    if not values_are_checked():
        return value
    low, high = truth.aminmax()
    # A score that is not finite makes the value so.
    if low.item() >= 0 and high.item() <= 1 and math.isfinite(value.item()):
        return value
    return None


_eager = eager_only(_of_whole_lists)


class Focal(PointwiseObjective):
    """Focal loss: the mean over items of −α_y (1 − p_y)^γ log p_y.

    p_y = σ(±s) is the probability of the true class. A list of one class counts, too. In detection
    (α = 0.25) the paper divides the sum by the number of positives instead.

    Args:
        gamma: Exponent γ ≥ 0; 2 as published, 0 is cross-entropy. For long tails the code of
            LDAM and of class-balanced loss takes 1.
        alpha: Weight α of the positives, 1 − α of the negatives; None weighs neither.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import Focal
        >>> Focal()(torch.zeros(2), torch.tensor([1, 0]))  # 0.5² · log(2)
        tensor(0.1733)

    Reference:
        Lin et al. 2017, "Focal loss for dense object detection", Eq. 5.
    """

    def __init__(
        self, gamma: float = 2.0, alpha: float | None = None, *, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        require_number("gamma", gamma, minimum=0)
        if alpha is not None and not (is_finite(alpha) and 0 < alpha < 1):
            raise ValueError(f"alpha must be None or between 0 and 1, got {alpha!r}")
        self.gamma, self.alpha = gamma, alpha

    def item_loss(self, scores: Tensor, target: Tensor) -> Tensor:
        toward = true_class_logit(scores, target)
        # In the log domain: a power of 1 − p has no finite gradient at p = 1 when γ < 1.
        loss = -logsigmoid(toward) * (self.gamma * logsigmoid(-toward)).exp()
        if self.alpha is None:
            return loss
        return loss * torch.where(target > 0, self.alpha, 1 - self.alpha)
