"""Pairs of users and items, by user."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which items every user has, sorted: those of user u are ``items[start[u]:start[u + 1]]``."""

    start: Tensor  # (users + 1,)
    items: Tensor  # (pairs,)
    n_items: int  # of the catalog
    row: Tensor  # (pairs,) where each pair stood in what it was made of

    @classmethod
    def of(
        cls, user: NDArray[np.int64], item: NDArray[np.int64], n_users: int, n_items: int
    ) -> Pairs:
        """Made of two columns."""
        order = np.lexsort((item, user))
        start = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=n_users))])
        return cls(
            torch.from_numpy(start),
            torch.from_numpy(np.ascontiguousarray(item[order])),
            n_items,
            torch.from_numpy(order),
        )

    def __len__(self) -> int:
        return len(self.items)

    @property
    def n_users(self) -> int:
        """Users, with or without items."""
        return len(self.start) - 1

    @cached_property
    def counts(self) -> Tensor:
        """Items of each user."""
        return self.start.diff()

    def of_users(self, users: Tensor) -> tuple[Tensor, Tensor]:
        """Every pair of some users: the place of the user among them, and where the pair is."""
        if _is_range(users):
            first, last = int(self.start[users[0]]), int(self.start[users[-1] + 1])
            return self._user[first:last] - users[0], torch.arange(first, last)
        counts = self.counts[users]
        rows = torch.repeat_interleave(torch.arange(len(users)), counts)
        before = self.start[users] - (counts.cumsum(0) - counts)
        return rows, torch.arange(len(rows)) + before[rows]

    def cells(self, users: Tensor) -> Tensor:
        """Where the pairs of some users are in a flat (len(users), n_items) rectangle."""
        if _is_range(users):
            first, last = int(self.start[users[0]]), int(self.start[users[-1] + 1])
            return self._keys[first:last] - users[0] * self.n_items
        rows, places = self.of_users(users)
        return rows * self.n_items + self.items[places]

    def padded(self, users: Tensor) -> tuple[Tensor, Tensor]:
        """Places of the pairs of some users, (len(users), most), and which of them are there."""
        counts = self.counts[users]
        column = torch.arange(int(counts.max()) if len(counts) else 0)
        there = column < counts.unsqueeze(1)
        return (self.start[users].unsqueeze(1) + column).masked_fill(~there, 0), there

    def have(self, users: Tensor, items: Tensor) -> Tensor:
        """Whether users (rows) have items (columns), (len(users), len(items))."""
        different, column = torch.unique(items, return_inverse=True)
        place = torch.full((self.n_items,), -1)
        place[different] = torch.arange(len(different))
        rows, places = self.of_users(users)
        where = place[self.items[places]]
        among = where >= 0
        found = torch.zeros(len(users), len(different), dtype=torch.bool)
        found[rows[among], where[among]] = True
        return found[:, column]

    @cached_property
    def _user(self) -> Tensor:
        return torch.repeat_interleave(torch.arange(self.n_users), self.counts)

    @cached_property
    def _keys(self) -> Tensor:
        return self._user * self.n_items + self.items


def _is_range(users: Tensor) -> bool:
    """Whether these are neighbors, in order: then a slice will do."""
    return len(users) > 0 and bool((users.diff() == 1).all())
