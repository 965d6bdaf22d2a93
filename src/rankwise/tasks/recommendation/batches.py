"""The lists of a step, and their loss: of the whole catalog, or of sampled negatives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Tensor

from rankwise.objectives import Objective
from rankwise.tasks.recommendation.blocks import InBlocks, InSums, ShortLists, by_blocks
from rankwise.tasks.recommendation.catalog import BLOCK
from rankwise.tasks.recommendation.network import Recommender
from rankwise.tasks.recommendation.problem import WHOLE, Pairs
from rankwise.tasks.recommendation.settings import Settings

# Negatives of a step where the catalog is not whole: for each positive, or once for its user.
SAMPLED, SHARED = 1024, 16_384


def fits(positives: Pairs) -> bool:
    """Whether every user is trained against the whole catalog without being asked."""
    return int((positives.counts > 0).sum()) * positives.n_items <= WHOLE


class Negatives:
    """Items for all lists of a step, drawn with replacement from q.

    Each stands for 1/(n·q_i) items of the catalog, its weight: sums over what was drawn are then
    unbiased for sums over the catalog. In a softmax that is the log q correction, since
    w·e^s = e^(s − log(n·q)) (Bengio & Senécal 2008). A user's own positives among them are masked.
    """

    def __init__(self, positives: Pairs, settings: Settings, *, shared: bool = False) -> None:
        self.n_items = positives.n_items
        count = str(0 if fits(positives) else SHARED if shared else SAMPLED)
        self.count = int(settings.negatives.replace("auto", count))
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
            return torch.arange(self.n_items), torch.ones(self.n_items)
        items = torch.multinomial(self.share, self.count, replacement=True)
        return items, self.weight[items].float()


@dataclass(frozen=True, eq=False)
class Batch:
    """Lists of positives and negatives, (lists, positives) and (negatives,)."""

    users: Tensor
    positives: Tensor  # numbers of items
    pairs: Tensor  # which positive pair of the training part each one is
    there: Tensor  # what of the positives is no padding
    negatives: Tensor
    weight: Tensor  # of the negatives
    allowed: Tensor  # (lists, negatives): no positive of the user
    list_weight: Tensor  # (lists,), of sum 1

    def share(self, rank: int, processes: int) -> Batch:
        """The lists of one of several processes."""
        own = slice(rank, None, processes)
        names = ("users", "positives", "pairs", "there", "allowed", "list_weight")
        return replace(self, **{name: getattr(self, name)[own] for name in names})

    def loss(self, network: Recommender, objective: Objective) -> Tensor:
        """The mean of the objective over these lists, by their weights.

        A large batch is computed for some lists at a time, as that of the whole catalog.
        """
        of_users, of_items = network.vectors()
        users = of_users(self.users)
        if not len(users):
            return users.sum()
        items, place = torch.unique(
            torch.cat([self.positives.flatten(), self.negatives]), return_inverse=True
        )
        vectors = of_items(items)
        own = vectors[place[: self.positives.numel()].reshape(self.positives.shape)]
        negatives = vectors[place[self.positives.numel() :]]

        def risk(rows: slice, lists: Tensor, below: Tensor) -> Tensor:
            some, allowed, there = lists[:, 0], self.allowed[rows], self.there[rows]
            above, below = torch.einsum("ld,lpd->lp", some, lists[:, 1:]), some @ below.T
            ids = None
            if objective.memory_by == "item":
                ids = torch.cat([self.pairs[rows], torch.zeros_like(below, dtype=torch.long)], 1)
            found: Tensor = objective(
                torch.cat([above, below], 1),
                torch.cat([torch.ones_like(there), torch.zeros_like(allowed)], 1),
                mask=torch.cat([there, allowed], 1),
                weight=torch.cat([torch.ones_like(above), self.weight.expand_as(below)], 1),
                list_ids=self.users[rows],
                item_ids=ids,
            )
            return (found * self.list_weight[rows]).sum()

        lists = torch.cat([users.unsqueeze(1), own], 1)
        width = own.shape[1] + len(negatives)
        if len(lists) * width <= BLOCK or not by_blocks(objective):
            return risk(slice(None), lists, negatives)
        return InBlocks.apply(lists, negatives, max(1, BLOCK // width), risk)


@dataclass(frozen=True, eq=False)
class SharedBatch:
    """Lists of all positives of some users; the sampled negatives are summed up once for a user.

    For objectives that only see Σ_j e^(s_j) of the negatives (``sums_negatives``).
    """

    users: Tensor
    positives: Pairs
    negatives: Tensor
    weight: Tensor  # of the negatives
    allowed: Tensor  # (lists, negatives): no positive of the user
    list_weight: Tensor  # (lists,), of sum 1

    def share(self, rank: int, processes: int) -> SharedBatch:
        """The lists of one of several processes."""
        own = slice(rank, None, processes)
        names = ("users", "allowed", "list_weight")
        return replace(self, **{name: getattr(self, name)[own] for name in names})

    def loss(self, network: Recommender, objective: Objective) -> Tensor:
        """The mean of the objective over these lists, by their weights.

        A large batch is computed for some lists at a time, as that of the whole catalog.
        """
        of_users, of_items = network.vectors()
        users = of_users(self.users)
        if not len(users):
            return users.sum()
        among, places = self.positives.of_users(self.users)
        items, place = torch.unique(
            torch.cat([self.positives.items[places], self.negatives]), return_inverse=True
        )
        own, sampled = place[: len(places)], place[len(places) :]
        ends = self.positives.counts[self.users].cumsum(0)
        lists = ShortLists(self.users, self.positives, self.list_weight, objective)
        log_weight = self.weight.log()

        def risk(rows: slice, some: Tensor, vectors: Tensor) -> Tensor:
            first, last, _ = rows.indices(len(users))
            cells = slice(int(ends[first - 1]) if first else 0, int(ends[last - 1]))
            above = (some[among[cells] - first] * vectors[own[cells]]).sum(1)
            allowed = self.allowed[rows]
            # Who has all that was drawn has no weight: with no score at all there is no gradient.
            hidden = ~allowed & allowed.any(1, keepdim=True)
            below = (some @ vectors[sampled].T + log_weight).masked_fill(hidden, -math.inf)
            return lists.risk(rows, above, below.logsumexp(1))

        vectors, step = of_items(items), max(1, BLOCK // len(self.negatives))
        if len(users) <= step:
            return risk(slice(None), users, vectors)
        return InBlocks.apply(users, vectors, step, risk)


@dataclass(frozen=True, eq=False)
class CatalogBatch:
    """Lists of the whole catalog, one for each of some users."""

    users: Tensor
    positives: Pairs
    list_weight: Tensor

    def share(self, rank: int, processes: int) -> CatalogBatch:
        """The lists of one of several processes."""
        own = slice(rank, None, processes)
        return replace(self, users=self.users[own], list_weight=self.list_weight[own])

    def loss(self, network: Recommender, objective: Objective) -> Tensor:
        """The mean of the objective over these lists, by their weights.

        Scores are made, ranked and dropped for a block of users at a time, along with their
        gradient. An objective that remembers or learns something itself gets all users at once.
        """

        def risk(rows: slice, users: Tensor, items: Tensor) -> Tensor:
            some, scores = self.users[rows], users @ items.T
            among, places = self.positives.of_users(some)
            cells = among * len(items) + self.positives.items[places]
            target = torch.zeros(scores.numel(), dtype=torch.bool)
            target[cells] = True
            ids = None
            if objective.memory_by == "item":
                ids = torch.zeros(len(target), dtype=torch.long).index_copy(0, cells, places)
                ids = ids.view_as(scores)
            found: Tensor = objective(scores, target.view_as(scores), list_ids=some, item_ids=ids)
            return (found * self.list_weight[rows]).sum()

        of_users, of_items = network.vectors()
        users, items = of_users(self.users), of_items(network.every_item)
        if not len(users):
            return users.sum()
        if not by_blocks(objective):
            return risk(slice(None), users, items)
        step = max(1, BLOCK // len(items))
        if objective.sums_negatives:
            lists = ShortLists(self.users, self.positives, self.list_weight, objective)
            return InSums.apply(users, items, step, lists)
        return InBlocks.apply(users, items, step, risk)


AnyBatch: TypeAlias = Batch | SharedBatch | CatalogBatch


class Batches:
    """The lists of one epoch after another, in the order of torch's own generator.

    A list has one positive (``single``) or all of its user's; a step has about as many positives
    as the settings say, either way. With ``shared`` the positives of a user share the sum over the
    sampled negatives.
    """

    def __init__(
        self, positives: Pairs, settings: Settings, *, single: bool, shared: bool = False
    ) -> None:
        self.positives, self.single, self.shared = positives, single, shared and not single
        self.negatives = Negatives(positives, settings, shared=self.shared)
        # The user of each list.
        self.users = positives.users if single else (positives.counts > 0).nonzero().squeeze(1)
        each = len(positives) / len(self.users) if len(self.users) else 1
        self.size = max(1, round(settings.batch / each))
        self.by_user = settings.weighting == "users" or single

    @property
    def steps(self) -> int:
        """Steps of an epoch."""
        return -(-len(self.users) // self.size)

    def epoch(self) -> Iterator[AnyBatch]:
        """Every list once."""
        for chosen in torch.randperm(len(self.users)).split(self.size):
            yield self._batch(chosen)

    def _batch(self, chosen: Tensor) -> AnyBatch:
        users = self.users[chosen]
        counts = self.positives.counts[users]
        weight = torch.ones(len(users)) if self.by_user else counts.float()
        if self.negatives.count == 0 and not self.single:
            weight *= counts < self.positives.n_items  # else there is nothing to rank
            return CatalogBatch(users, self.positives, weight / weight.sum().clamp_min(1))
        pairs = chosen.unsqueeze(1)
        there = torch.ones_like(pairs, dtype=torch.bool)
        if not self.single and not self.shared:
            pairs, there = self.positives.padded(users)
        items, sampled = self.negatives.draw()
        allowed = ~self.positives.have(users, items)
        weight *= allowed.any(1)
        below = items, sampled, allowed, weight / weight.sum().clamp_min(1)
        if self.shared:
            return SharedBatch(users, self.positives, *below)
        return Batch(users, self.positives.items[pairs], pairs, there, *below)
