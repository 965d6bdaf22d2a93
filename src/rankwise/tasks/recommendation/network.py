"""Vectors of users and items whose product is the score, and the lists they are trained on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from rankwise.objectives import Objective
from rankwise.tasks.recommendation.catalog import Scores
from rankwise.tasks.recommendation.problem import Pairs
from rankwise.tasks.recommendation.settings import Settings

_START = 0.1  # spread of the first vectors' entries


class Tower(nn.Module):
    """The vectors of one side: an embedding by id, with layers and features on request."""

    known: Tensor | None  # (ids, features)

    def __init__(
        self, count: int, dimension: int, hidden: tuple[int, ...] = (), known: Tensor | None = None
    ) -> None:
        super().__init__()
        self.ids = nn.Embedding(count, dimension)
        nn.init.normal_(self.ids.weight, std=_START)
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


class Recommender(nn.Module):
    """Two towers and a number for each item: s(u, i) = ⟨user_u, item_i⟩ + b_i.

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
        self.users = Tower(n_users, settings.dimension, hidden, user_features)
        self.items = Tower(n_items, settings.dimension, hidden, item_features)
        self.offsets = nn.Embedding(n_items, 1)
        nn.init.zeros_(self.offsets.weight)

    def user_vectors(self, codes: Tensor) -> Tensor:
        """(…, dimension + 1), the last entry 1."""
        found: Tensor = self.users(codes)
        return torch.cat([found, found.new_ones(*found.shape[:-1], 1)], dim=-1)

    def item_vectors(self, codes: Tensor) -> Tensor:
        """(…, dimension + 1), the last entry the item's own number."""
        return torch.cat([self.items(codes), self.offsets(codes)], dim=-1)

    @torch.no_grad()
    def scores(self) -> Scores:
        """The scores of every user for the whole catalog."""
        count = self.items.ids.num_embeddings
        return Scores(self.user_vectors, self.item_vectors(torch.arange(count)))


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

    def loss(self, network: Recommender, objective: Objective) -> Tensor:
        """The objective of the scores of these lists."""
        users = network.user_vectors(self.users)
        items, place = torch.unique(
            torch.cat([self.positives.flatten(), self.negatives]), return_inverse=True
        )
        vectors = network.item_vectors(items)
        own = vectors[place[: self.positives.numel()].reshape(self.positives.shape)]
        above = torch.einsum("ld,lpd->lp", users, own)
        below = users @ vectors[place[self.positives.numel() :]].T
        pairs = torch.cat([self.pairs, torch.zeros_like(below, dtype=torch.long)], 1)
        found: Tensor = objective(
            torch.cat([above, below], 1),
            torch.cat([torch.ones_like(self.pairs), torch.zeros_like(self.allowed)], 1),
            mask=torch.cat([self.there, self.allowed], 1),
            weight=torch.cat([torch.ones_like(above), self.weight.expand_as(below)], 1),
            list_ids=self.users,
            item_ids=pairs,
        )
        return found


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

    @property
    def steps(self) -> int:
        """Steps of an epoch."""
        return -(-len(self.users) // self.size)

    def epoch(self) -> Iterator[Batch]:
        """Every list once."""
        for chosen in torch.randperm(len(self.users)).split(self.size):
            users, pairs = self.users[chosen], chosen.unsqueeze(1)
            there = torch.ones_like(pairs, dtype=torch.bool)
            if not self.single:
                pairs, there = self.positives.padded(users)
            items, weight = self.negatives.draw()
            allowed = ~self.positives.have(users, items)
            yield Batch(users, self.positives.items[pairs], pairs, there, items, weight, allowed)
