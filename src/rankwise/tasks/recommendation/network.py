"""Vectors of users and items whose product is the score."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Self, TypeAlias

import torch
from torch import Tensor, nn

from rankwise.tasks.recommendation.catalog import Scores
from rankwise.tasks.recommendation.model import Model
from rankwise.tasks.recommendation.problem import Pairs, Problem
from rankwise.tasks.recommendation.settings import Settings

_Side: TypeAlias = Callable[[Tensor], Tensor]  # numbers to vectors
START = 0.1  # spread of the first vectors' entries
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
