"""What is the same for every objective: the call, the checks, the mean over lists."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from rankwise.lists import Lists, split_lists
from rankwise.pairs.ragged import size_classes

__all__ = ["Objective"]


class Objective(nn.Module, ABC):
    """A ranking risk, called as ``loss(scores, target)``.

    ``scores`` are logits or similarities of any floating dtype, ``target`` is 0/1. The last
    dimension is the list that is ranked, leading dimensions are independent lists; ragged lists
    come flat with the id of each item's list in ``groups``. ``mask`` is True for items that are
    there. ``weight`` is one number per item, 2 counts as the item twice. A list without both
    classes contributes nothing, and a batch without any other list gives 0 with a graph.
    """

    @abstractmethod
    def risk(self, lists: Lists) -> Tensor:
        """The risk of every list, (lists,); every list has both classes."""

    def forward(
        self,
        scores: Tensor,
        target: Tensor,
        *,
        mask: Tensor | None = None,
        groups: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> Tensor:
        """The mean risk over the lists that have both classes."""
        if scores.dim() == 0:
            raise ValueError("scores must have at least one dimension, the list, got one number")
        with torch.autocast(scores.device.type, enabled=False):
            if groups is None:
                risks = self._rows(scores, target, mask, weight)
            else:
                risks = self._ragged(scores, target, mask, groups, weight)
            nothing = scores.flatten()[:0].sum(dtype=risks.dtype)  # 0 with a graph, whatever comes
            return nothing + risks.sum() / max(1, len(risks))

    def _rows(
        self, scores: Tensor, target: Tensor, mask: Tensor | None, weight: Tensor | None
    ) -> Tensor:
        """The risks of the lists that have both classes."""
        lists = split_lists(scores, target, mask, weight)
        if not lists.complete.all():
            lists = lists.select(lists.complete)
        return self.risk(lists) if len(lists.positives) else lists.positive_weight.new_zeros(0)

    def _ragged(
        self,
        scores: Tensor,
        target: Tensor,
        mask: Tensor | None,
        groups: Tensor,
        weight: Tensor | None,
    ) -> Tensor:
        parts = []
        for size_class in size_classes(groups):
            (side,) = size_class.sides
            present = side.mask if mask is None else side.mask & mask[side.positions]
            chosen = None if weight is None else side.take(weight)
            parts.append(self._rows(side.take(scores), side.take(target), present, chosen))
        return torch.cat(parts) if parts else self._rows(scores, target, mask, weight)
