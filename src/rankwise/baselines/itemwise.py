"""Losses that are a mean over items: what a classifier is usually trained with."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.checks import require_binary, require_shares
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives._batch import Batch

__all__ = ["ItemwiseObjective", "toward_truth"]


class ItemwiseObjective(Objective):
    """Σ weight·ℓ(item) / Σ weight over the items of a list, the mean over the lists.

    An item has a loss whatever else is in its list, so here a list of one class counts like any
    other (a ranking objective leaves it out); only a list without items contributes nothing.
    To write one, give :meth:`item_loss`.
    """

    pointwise: ClassVar[bool] = True
    soft: ClassVar[bool] = False  # whether a label may be any share between 0 and 1

    @abstractmethod
    def item_loss(self, scores: Tensor, target: Tensor) -> Tensor:
        """ℓ of items with these logits and labels."""

    def risk(self, lists: Lists) -> Tensor:
        assert lists.relevance is not None
        return lists.mean_over_positives(self.item_loss(lists.positives, lists.relevance))

    def require_target(self, name: str, target: Tensor) -> None:
        """Raise unless labels are 0 and 1, or shares where they may be soft."""
        (require_shares if self.soft else require_binary)(name, target)

    def split(self, batch: Batch, scale: Tensor | float) -> tuple[Lists, Tensor | None]:
        """All the items on one side, 0 and 1 as their relevance: nothing has to be sorted out.

        The scores are logits and are not scaled.
        """
        scores, target, weight = batch.scores, batch.target, batch.weight
        if batch.mask is not None:
            scores = scores.masked_fill(~batch.mask, 0)
            target = target.masked_fill(~batch.mask, 0)
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        weights = torch.ones_like(scores) if weight is None else weight.to(scores.dtype)
        if batch.mask is not None:
            weights = weights.masked_fill(~batch.mask, 0)
        nothing = scores[:, :0]
        lists = Lists(scores, nothing, weights, nothing, list_ids=batch.list_ids, relevance=target)
        counts = lists.n_positives.squeeze(-1) > 0
        return (lists, None) if bool(counts.all()) else (lists.select(counts), counts)


def toward_truth(scores: Tensor, target: Tensor) -> Tensor:
    """The logit of the right answer, s or −s."""
    return torch.where(target > 0, scores, -scores)
