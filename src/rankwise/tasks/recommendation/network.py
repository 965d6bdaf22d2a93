"""Vectors of users and items whose product is the score."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from rankwise.tasks.recommendation.catalog import Scores
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
