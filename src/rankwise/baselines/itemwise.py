"""Losses that are a mean over items: what a classifier is usually trained with."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import fields

from torch import Tensor

from rankwise.baselines.precision import widened
from rankwise.lists import Lists, split_lists
from rankwise.objectives import Objective
from rankwise.objectives.batch import Batch

__all__ = ["ItemwiseObjective"]


class ItemwiseObjective(Objective):
    """Σ weight·ℓ(item) / Σ weight over the items of a list, the mean over the lists.

    An item has a loss whatever else is in its list, so here a list of one class counts like any
    other (a ranking objective leaves it out); only a list without items contributes nothing.
    To write one, give :meth:`item_loss`.
    """

    @abstractmethod
    def item_loss(self, toward: Tensor, positive: bool) -> Tensor:
        """ℓ of items of one class; ``toward`` is the logit of the right answer, s or −s."""

    def risk(self, lists: Lists) -> Tensor:
        lists = widened(lists)
        positives = self.item_loss(lists.positives, True) * lists.positive_weight
        negatives = self.item_loss(-lists.negatives, False) * lists.negative_weight
        size = lists.n_positives + lists.n_negatives
        return (positives.sum(-1) + negatives.sum(-1)) / size.squeeze(-1)

    def _mean_risk(self, batches: list[Batch], scores: Tensor) -> Tensor:
        every = [_EveryList(**{f.name: getattr(b, f.name) for f in fields(b)}) for b in batches]
        return super()._mean_risk(list(every), scores)


class _EveryList(Batch):
    """A batch whose lists need an item, not both classes."""

    def split(self, scale: Tensor | float = 1.0) -> Lists:
        lists = split_lists(self.scores / scale, self.target, self.mask, self.weight)
        return lists.select((lists.n_positives + lists.n_negatives > 0).squeeze(-1))
