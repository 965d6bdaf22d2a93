"""Negatives drawn from the catalog, and the weight that makes up for how they were drawn."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.tasks.recommendation.pairs import Pairs
from rankwise.tasks.recommendation.settings import Settings


class Negatives:
    """Items for all lists of a step, drawn with replacement from q.

    Each stands for 1/(n·q_i) items of the catalog, its weight: sums over what was drawn are then
    unbiased for sums over the catalog. In a softmax that is the log q correction, since
    w·e^s = e^(s − log(n·q)) (Bengio & Senécal 2008). A user's own positives among them are masked.
    """

    def __init__(self, positives: Pairs, settings: Settings) -> None:
        self.count, self.n_items = settings.negatives, positives.n_items
        share = torch.ones(self.n_items, dtype=torch.float64)
        if settings.sampling == "popularity":
            # One more for each: an item that is never drawn would never be pushed down.
            share = 1 + torch.bincount(positives.items, minlength=self.n_items).double()
        self.share = share / share.sum()
        self.weight = 1 / (max(1, self.count) * self.share)
        if not settings.correction:
            self.weight = torch.ones_like(self.weight)

    def draw(self) -> tuple[Tensor, Tensor]:
        """Items and their weights."""
        if self.count == 0:
            every = torch.arange(self.n_items)
            return every, torch.ones(self.n_items)
        items = torch.multinomial(self.share, self.count, replacement=True)
        return items, self.weight[items].float()
