"""Item-based nearest neighbors: cosine of the items' users, shrunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor

from rankwise.tasks.recommendation.catalog import BLOCK, Scorer
from rankwise.tasks.recommendation.model import ClosedForm
from rankwise.tasks.recommendation.problem import Pairs
from rankwise.tasks.recommendation.settings import Settings


def common_users(train: Pairs) -> Iterator[tuple[Tensor, Tensor]]:
    """Some items at a time, with the number of users that each has in common with every item."""
    by_item, n, every = train.transposed(), train.n_items, torch.arange(train.n_items)
    # A block ends after as many cells, or after as many pairs of interactions of one user.
    work = torch.zeros(n, dtype=torch.long).index_add_(0, train.items, train.counts[train.users])
    block = work.cumsum(0) // (8 * BLOCK) + every // max(1, BLOCK // n)
    for some in every.split(block.unique_consecutive(return_counts=True)[1].tolist()):
        row, places = by_item.of_users(some)
        again, items = train.of_users(by_item.items[places])
        cells = row[again] * n + train.items[items]
        yield some, torch.bincount(cells, minlength=len(some) * n).view(len(some), n)


class ItemKNN(ClosedForm):
    """s(u, i) = Σ of sim(i, j) over the items j of user u among the k nearest neighbors of i.

    sim(i, j) = |U_i ∩ U_j| / (√(|U_i| |U_j|) + h) with U_i the users of item i and h the
    shrinkage. An item without common users is not a neighbor.
    """

    grid: ClassVar[dict[str, tuple[float, ...]]] = {
        "neighbors": (20, 50, 100, 200, 400),
        "shrinkage": (0.0, 10.0, 30.0, 100.0),
    }
    neighbors: Tensor  # (items, k), the most similar first
    similarities: Tensor  # (items, k); 0: no neighbor

    def __init__(self, learned: Pairs, settings: Settings) -> None:
        super().__init__(learned, settings)
        self.history = learned
        shape = learned.n_items, min(settings.neighbors or 1, learned.n_items - 1)
        self.register_buffer("neighbors", torch.zeros(shape, dtype=torch.int32))
        self.register_buffer("similarities", torch.zeros(shape))

    @classmethod
    def fits(cls, train: Pairs, settings: Settings) -> Iterator[tuple[Settings, Self]]:
        made = cls(train, settings)
        degrees = torch.bincount(train.items, minlength=train.n_items).double()
        for some, common in common_users(train):
            norms = (degrees[some].unsqueeze(1) * degrees).sqrt() + (settings.shrinkage or 0.0)
            similar = torch.where(common > 0, common / norms, 0.0)
            similar[torch.arange(len(some)), some] = -1  # an item is not its own neighbor
            values, nearest = similar.topk(made.neighbors.shape[1], dim=1)
            made.neighbors[some], made.similarities[some] = nearest.int(), values.float()
        yield settings, made

    def scores(self) -> Scorer:
        item, rank = (self.similarities > 0).nonzero(as_tuple=True)
        source = self.neighbors[item, rank].long()
        order = source.argsort(stable=True)
        start = torch.bincount(source, minlength=len(self.neighbors)).cumsum(0)
        targets = Pairs(torch.cat([start.new_zeros(1), start]), item[order], len(self.neighbors))
        return _Neighbors(self.history, targets, self.similarities[item, rank][order])


@dataclass(frozen=True, eq=False)
class _Neighbors(Scorer):
    """Every item of a user adds to the scores of the items that it is a neighbor of."""

    history: Pairs
    targets: Pairs  # of every item, those that it is a neighbor of
    weights: Tensor  # of each of these

    @property
    def n_items(self) -> int:
        return self.targets.n_items

    def write(self, users: Tensor, out: Tensor) -> None:
        row, places = self.history.of_users(users)
        among, targets = self.targets.of_users(self.history.items[places])
        cells = row[among] * self.n_items + self.targets.items[targets]
        out.zero_().view(-1).index_add_(0, cells, self.weights[targets])
