"""Losses of logits of several classes: what is the same for all of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from rankwise.checks import (
    require_floating,
    require_mask,
    require_one_of,
    require_same_device,
    require_same_shape,
    require_scores,
    require_tensor,
    require_values,
    require_weights,
    values_are_checked,
    warn_caller,
)
from rankwise.eager import eager_only, first_gradient_only
from rankwise.objectives._arguments import Reduction
from rankwise.objectives._options import ReprFromOptions
from rankwise.pairs.ragged import size_classes


@dataclass(frozen=True)
class ClassLists:
    """Items with a logit for every class; absent ones have weight 0, logits 0 and class 0.

    Attributes:
        scores: Logits in float32 at least, shape (lists, items, classes).
        target: Class of each item, shape (lists, items).
        weight: Weight of each item, shape (lists, items).
    """

    scores: Tensor
    target: Tensor
    weight: Tensor

    def select(self, chosen: Tensor) -> ClassLists:
        """Return some of the lists, by a boolean for each."""
        return ClassLists(self.scores[chosen], self.target[chosen], self.weight[chosen])


class ClassObjective(ReprFromOptions, nn.Module, ABC):
    """Base class of losses of logits (…, items, classes) with one class per item.

    It is called like an :class:`Objective`. The last dimension has the classes and the one before
    it the list, usually the batch. ``mask``, ``groups`` and ``weight`` are per item, of the shape
    of ``target`` (``groups`` for logits of shape (items, classes)). A target of −1 leaves its item
    out. ``list_ids`` and ``item_ids`` are accepted and not used. Under ``torch.compile`` the call
    runs in eager mode, with one graph break.

    A subclass implements :meth:`risk`. Where a list needs more than an item, it implements
    :meth:`counts` as well, and sets ``needs`` for the warning of a batch without such a list.

    Args:
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import ClassObjective
        >>> class Error(ClassObjective):
        ...     def risk(self, lists):
        ...         wrong = (lists.scores.argmax(-1) != lists.target) * lists.weight
        ...         return wrong.sum(-1) / lists.weight.sum(-1)
        >>> Error()(torch.tensor([[2.0, 1.0], [0.0, 1.0]]), torch.tensor([1, 1]))
        tensor(0.5000)
    """

    needs: ClassVar[str | None] = None
    twice_differentiable: bool = False  # see Objective
    warned_of_one_class: bool = False

    def __init__(self, *, reduction: Reduction = "mean") -> None:
        super().__init__()
        require_one_of("reduction", reduction, ("mean", "sum", "none"))
        self.reduction = reduction

    @abstractmethod
    def risk(self, lists: ClassLists) -> Tensor:
        """Return the risk of every list, (lists,); every list counts."""

    def counts(self, lists: ClassLists) -> Tensor:
        """Return which lists count, (lists,); by default those with an item."""
        return lists.weight.sum(-1) > 0

    def require_classes(self, classes: int) -> None:
        """Raise on a number of classes it cannot take: by default one, which ranks nothing."""
        if classes == 1:  # the output of nn.Linear(d, 1)
            raise ValueError(
                "scores must have a logit for each of two or more classes, got 1 class; for one "
                "score per item pass `scores.squeeze(-1)` to an objective of two classes, such as "
                "PairwiseAUC"
            )

    @eager_only
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
        """Compute the risk of the lists that count; see :meth:`Objective.forward`."""
        require_tensor("scores", scores)
        require_values("scores", scores)
        if not self.twice_differentiable:
            scores = first_gradient_only(scores, type(self).__name__)
        with torch.autocast(scores.device.type, enabled=False):
            if scores.dim() > 1:
                self.require_classes(scores.shape[-1])
            flat, rows = read_classes(scores, target, mask, weight)
            parts = [_reshaped(flat, rows)] if groups is None else _by_group(flat, groups, target)
            values = flat.scores.new_zeros(sum(len(part.target) for part, _ in parts))
            values = values + flat.scores[:0].sum()
            count = 0
            for part, places in parts:
                counted = self.counts(part)
                if bool(counted.any()):
                    risks = self.risk(part.select(counted))
                    values, count = values.index_copy(0, places[counted], risks), count + len(risks)
            if count == 0:
                self._warn(flat)
            if self.reduction == "none":
                return values if groups is not None else values.reshape(scores.shape[:-2])
            return values.sum() / (max(1, count) if self.reduction == "mean" else 1)

    def _warn(self, flat: ClassLists) -> None:
        """Report, once per objective, that no list of a batch counts."""
        if self.needs is None or self.warned_of_one_class:
            return
        self.warned_of_one_class = True
        present = flat.target[flat.weight > 0]
        items, classes = len(present), len(present.unique())
        warn_caller(
            f"{type(self).__name__}: no list of this batch has {self.needs} ({items} "
            f"{'item' if items == 1 else 'items'} of {classes} "
            f"{'class' if classes == 1 else 'classes'}), so that the loss is 0 and has no "
            "gradient; use a sampler that puts several classes into every batch, such as "
            "rankwise.samplers.ClassBatches (reported once per objective)"
        )


def read_classes(
    scores: Tensor, target: Tensor, mask: Tensor | None, weight: Tensor | None
) -> tuple[ClassLists, tuple[int, int]]:
    """Return checked lists, flat over the items, and their shape (lists, items)."""
    for name, given in (("target", target), ("mask", mask), ("weight", weight)):
        if given is not None:
            require_tensor(name, given)
    require_floating("scores", scores)
    if scores.dim() < 2:
        raise ValueError(f"scores must have shape (…, items, classes), got {tuple(scores.shape)}")
    shape, classes = scores.shape[:-1], scores.shape[-1]
    if target.shape != shape or target.is_floating_point() or target.dtype == torch.bool:
        raise ValueError(
            f"target must be class ids of shape {tuple(shape)}, "
            f"got {target.dtype} of shape {tuple(target.shape)}"
        )
    require_same_device("target", target, "scores", scores)
    require_values("target", target)
    present = target != -1
    for name, given in (("mask", mask), ("weight", weight)):
        if given is not None:
            require_same_shape(name, given, "target", target)
            require_same_device(name, given, "scores", scores)
    if mask is not None:
        require_mask("mask", mask)
        present = present & mask
    target = target.long().masked_fill(~present, 0)
    known = (target >= 0) & (target < classes)
    if target.numel() and values_are_checked() and not bool(known.all()):
        low, high = (int(end) for end in target.aminmax())
        raise ValueError(
            f"target must be class ids from 0 to {classes - 1}, or -1 to leave an item out, "
            f"got values from {low} to {high}"
        )
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    scores = scores.masked_fill(~present.unsqueeze(-1), 0)
    require_scores("scores", scores)
    weights = present.to(scores.dtype)
    if weight is not None:
        require_weights("weight", weight)
        weights = torch.where(present, weight.to(scores.dtype), 0)
    rows = math.prod(shape[:-1]), shape[-1]
    items = rows[0] * rows[1]
    flat = ClassLists(scores.reshape(items, classes), target.reshape(-1), weights.reshape(-1))
    return flat, rows


_Part = tuple[ClassLists, Tensor]
"""Some lists, and their places in the order of the call."""


def _reshaped(flat: ClassLists, rows: tuple[int, int]) -> _Part:
    scores = flat.scores.reshape(*rows, flat.scores.shape[-1])
    lists = ClassLists(scores, flat.target.reshape(rows), flat.weight.reshape(rows))
    return lists, torch.arange(rows[0], device=scores.device)


def _by_group(flat: ClassLists, groups: Tensor, target: Tensor) -> list[_Part]:
    require_same_shape("groups", groups, "target", target)
    if groups.dim() != 1 or groups.is_floating_point() or groups.dtype == torch.bool:
        raise ValueError(
            "groups must hold one integer per item, for scores of shape (items, classes), "
            f"got {groups.dtype} of shape {tuple(groups.shape)}"
        )
    parts = []
    for places, (side,) in size_classes(groups):
        logits, labels = flat.scores[side.positions], side.take(flat.target)
        lists = ClassLists(logits, labels, side.take(flat.weight))
        parts.append((lists, places))
    return parts
