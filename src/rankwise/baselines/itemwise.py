"""Losses that are a mean over items: what a classifier is usually trained with."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor

from rankwise.baselines.precision import widened
from rankwise.lists import Lists
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

    def split(self, batch: Batch, scale: Tensor | float) -> Lists:
        return batch.split(scale, every=True)
