"""Vectors of users and items whose product is the score, and the lists they are trained on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self, TypeAlias

import torch
from torch import Tensor, nn

from rankwise.objectives import Objective
from rankwise.tasks.recommendation.blocks import InBlocks, InSums, ShortLists, by_blocks
from rankwise.tasks.recommendation.catalog import BLOCK, Scores
from rankwise.tasks.recommendation.model import Model
from rankwise.tasks.recommendation.problem import WHOLE, Pairs, Problem
from rankwise.tasks.recommendation.settings import Settings

_Side: TypeAlias = Callable[[Tensor], Tensor]  # numbers to vectors
START = 0.1  # spread of the first vectors' entries
_SAMPLED = 1024  # negatives beyond
LARGE = 1 << 16  # rows of a table beyond which a step updates those it touches only


class Tower(nn.Module):
    """The vectors of one side: an embedding by id, with layers and features on request."""

    known: Tensor | None  # (ids, features)

    def __init__(
        self, count: int, dimension: int, hidden: tuple[int, ...] = (), known: Tensor | None = None
    ) -> None:
        super().__init__()
        self.ids = nn.Embedding(count, dimension)
        nn.init.normal_(self.ids.weight, std=START)
        self.register_buffer("known", known)
        sizes = [dimension + (0 if known is None else known.shape[1]), *hidden]
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise(sizes):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        plain = not hidden and known is None
        self.layers = None if plain else nn.Sequential(*layers, nn.Linear(sizes[-1], dimension))

    def forward(self, codes: Tensor) -> Tensor:
        """Vectors (…, dimension) of some ids by number."""
        vectors: Tensor = self.ids(codes)
        if self.layers is None:
            return vectors
        inputs = vectors if self.known is None else torch.cat([vectors, self.known[codes]], -1)
        # The embedding goes past the layers, too: they start as a small change to it.
        change: Tensor = self.layers(inputs)
        return vectors + change


class Recommender(Model):
    """Two towers: s(u, i) = (⟨user_u, item_i⟩ + b_i)/τ, or cos(user_u, item_i)/τ + b_i.

    Without hidden layers and features it is matrix factorization. The weights before training are
    drawn from torch's own generator.
    """

    def __init__(
        self,
        n_users: int,
        n_items: int,
        settings: Settings,
        user_features: Tensor | None = None,
        item_features: Tensor | None = None,
    ) -> None:
        super().__init__()
        hidden = settings.hidden if settings.model == "two_tower" else ()
        self.temperature = settings.temperature or 1.0
        self.users = Tower(n_users, settings.dimension, hidden, user_features)
        self.items = Tower(n_items, settings.dimension, hidden, item_features)
        self.cosine = settings.scores == "cosine"
        self.offsets = nn.Embedding(n_items, 1) if settings.has_offsets else None
        if self.offsets is not None:
            nn.init.zeros_(self.offsets.weight)

    @classmethod
    def new(cls, problem: Problem, settings: Settings, learned: Pairs) -> Self:
        sizes = len(problem.users), len(problem.items)
        return cls(*sizes, settings, problem.user_features, problem.item_features)

    def update_by_rows(self, *, sampled: bool) -> bool:
        """Give large tables a gradient of the rows that a step touches; return whether one is.

        Against the whole catalog a step touches all items, unless negatives are ``sampled``.
        """
        tables = [self.users.ids]
        if sampled:
            tables += [self.items.ids, *([] if self.offsets is None else [self.offsets])]
        for table in tables:
            table.sparse = table.num_embeddings > LARGE
        return any(table.sparse for table in tables)

    def sides(self) -> tuple[_Side, _Side]:
        """Users and items to their vectors, before these are normalized."""
        return self.users, self.items

    def vectors(self) -> tuple[_Side, _Side]:
        """Users and items to the vectors whose product is the score.

        Those of users are divided by the temperature. With offsets there is one more entry: 1
        for a user, and the item's own.
        """
        users, items = self.sides()
        return lambda codes: self._user(users(codes)), lambda codes: self._item(items(codes), codes)

    def _user(self, found: Tensor) -> Tensor:
        if self.cosine:
            return self._with_one(nn.functional.normalize(found, dim=-1) / self.temperature)
        found = self._with_one(found)
        return found if self.temperature == 1 else found / self.temperature

    def _item(self, found: Tensor, codes: Tensor) -> Tensor:
        if self.cosine:
            found = nn.functional.normalize(found, dim=-1)
        return found if self.offsets is None else torch.cat([found, self.offsets(codes)], dim=-1)

    def _with_one(self, found: Tensor) -> Tensor:
        """Vectors with a 1, the factor of the offsets, as a further entry if there are any."""
        if self.offsets is None:
            return found
        return nn.functional.pad(found, (0, 1), value=1.0)

    @property
    def every_item(self) -> Tensor:
        """Numbers of all items."""
        return torch.arange(self.items.ids.num_embeddings)

    @torch.no_grad()
    def scores(self) -> Scores:
        users, items = self.vectors()
        return Scores(users, items(self.every_item))


class Negatives:
    """Items for all lists of a step, drawn with replacement from q.

    Each stands for 1/(n·q_i) items of the catalog, its weight: sums over what was drawn are then
    unbiased for sums over the catalog. In a softmax that is the log q correction, since
    w·e^s = e^(s − log(n·q)) (Bengio & Senécal 2008). A user's own positives among them are masked.
    """

    def __init__(self, positives: Pairs, settings: Settings) -> None:
        self.n_items = positives.n_items
        large = int((positives.counts > 0).sum()) * self.n_items > WHOLE
        self.count = int(settings.negatives.replace("auto", str(_SAMPLED if large else 0)))
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


AnyBatch: TypeAlias = Batch | CatalogBatch


class Batches:
    """The lists of one epoch after another, in the order of torch's own generator.

    A list has one positive (``single``) or all of its user's; a step has about as many positives
    as the settings say, either way.
    """

    def __init__(self, positives: Pairs, settings: Settings, *, single: bool) -> None:
        self.positives, self.single = positives, single
        self.negatives = Negatives(positives, settings)
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
            users, pairs = self.users[chosen], chosen.unsqueeze(1)
            counts = self.positives.counts[users]
            weight = torch.ones(len(users)) if self.by_user else counts.float()
            if self.negatives.count == 0 and not self.single:
                weight *= counts < self.positives.n_items  # else there is nothing to rank
                yield CatalogBatch(users, self.positives, weight / weight.sum().clamp_min(1))
                continue
            there = torch.ones_like(pairs, dtype=torch.bool)
            if not self.single:
                pairs, there = self.positives.padded(users)
            items, sampled = self.negatives.draw()
            allowed = ~self.positives.have(users, items)
            weight *= allowed.any(1)
            positives = self.positives.items[pairs]
            lists = users, positives, pairs, there, items, sampled, allowed
            yield Batch(*lists, weight / weight.sum().clamp_min(1))
