"""The lists of all users, taken apart once, so that many scorings of them cost one pass each."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.estimators.data import Part
from rankwise.estimators.papk.by_rank import gains
from rankwise.estimators.papk.sides import Sides, padded, sides_of
from rankwise.lists import Lists
from rankwise.metrics import pap_at_k
from rankwise.objectives import Objective
from rankwise.objectives.batch import Beside, read_batch

__all__ = ["UserCounts", "Users"]

_FEW = 64  # k up to which pairs are counted one by one


@dataclass(frozen=True)
class UserCounts:
    """How many users there are, and how many of them cannot be ranked as k asks."""

    users: int
    without_positives: int
    without_negatives: int
    few_negatives: int  # some negatives and a positive, but fewer negatives than k
    k: int

    def __str__(self) -> str:
        return (
            f"{self.users} users: {self.without_positives} without positives and "
            f"{self.without_negatives} without negatives have nothing to rank and are left out, "
            f"{self.few_negatives} with fewer than k={self.k} negatives are ranked against all "
            "they have"
        )

    def warn(self) -> None:
        """Say so where any user is left out or short of negatives."""
        if self.without_positives or self.without_negatives or self.few_negatives:
            warnings.warn(str(self), UserWarning, stacklevel=3)


@dataclass(frozen=True)
class _Rectangle:
    """Users of about the same size: where in a vector of scores their items are."""

    lists: Lists
    positives: Tensor
    negatives: Tensor
    users: Tensor

    def at(self, scores: Tensor) -> Lists:
        """The lists under every row of ``scores``, (scorings, rows): one below the other."""
        times = len(scores)
        above, below = (
            scores[:, places].flatten(0, 1) for places in (self.positives, self.negatives)
        )
        return replace(
            self.lists,
            positives=above,
            negatives=below,
            positive_weight=self.lists.positive_weight.to(scores.dtype).repeat(times, 1),
            negative_weight=self.lists.negative_weight.to(scores.dtype).repeat(times, 1),
            index=None,
        )

    def of(self, chosen: Tensor, places: Tensor) -> _Rectangle | None:
        """The users for whom ``chosen`` is True, their items at other places."""
        rows = chosen[self.users]
        if not bool(rows.any()):
            return None
        return _Rectangle(
            self.lists.select(rows),
            places[self.positives[rows]],
            places[self.negatives[rows]],
            self.users[rows],
        )


@dataclass(frozen=True)
class Users:
    """Rows with their 0/1 targets, weights and users, and the users who have both classes."""

    target: Tensor
    weight: Tensor | None
    groups: Tensor
    rectangles: tuple[_Rectangle, ...]

    @classmethod
    def of_part(cls, part: Part) -> Users:
        """The users of some rows; without groups they are one."""
        groups = np.zeros(len(part), dtype=np.int64) if part.groups is None else part.groups
        return cls.of(part.target > 0, groups, part.weight)

    @classmethod
    def of(
        cls,
        target: NDArray[np.bool_],
        groups: NDArray[np.int64],
        weight: NDArray[np.float64] | None = None,
    ) -> Users:
        """The users 0, 1, … of rows; each of these numbers must occur."""
        labels, users = torch.from_numpy(np.asarray(target)), torch.from_numpy(groups)
        masses = None if weight is None else torch.from_numpy(weight)
        # The places of the rows stand in for their scores, and are sorted out with them.
        places = torch.arange(len(labels), dtype=torch.float64)
        ids = torch.arange(int(users.max()) + 1 if len(users) else 0)
        beside = Beside(None, users, masses, ids, None)
        rectangles = []
        for batch in read_batch(places, labels, beside, "list"):
            lists = batch.split()
            if len(lists.positives):
                assert lists.index is not None
                found = lists.positives.long(), lists.negatives.long(), lists.index
                rectangles.append(_Rectangle(lists, *found))
        return cls(labels, masses, users, tuple(rectangles))

    @property
    def number(self) -> int:
        """How many users there are, with or without both classes."""
        return int(self.groups.max()) + 1

    @property
    def ranked(self) -> int:
        """How many users have both classes."""
        return sum(len(part.users) for part in self.rectangles)

    def counts(self, k: int) -> UserCounts:
        """How many users have what, by weight where there are weights."""
        mass = np.ones(len(self.target)) if self.weight is None else self.weight.numpy()
        groups, target = self.groups.numpy(), self.target.numpy()
        positives = np.bincount(groups, mass * target, self.number)
        negatives = np.bincount(groups, mass * ~target, self.number)
        short = (positives > 0) & (negatives > 0) & (negatives < k)
        return UserCounts(
            self.number,
            int((positives <= 0).sum()),
            int(((negatives <= 0) & (positives > 0)).sum()),
            int(short.sum()),
            k,
        )

    def spread(self, scores: NDArray[Any]) -> float:
        """The standard deviation of a score of every row, 1 where they are all alike."""
        weight = None if self.weight is None else self.weight.numpy()
        wide = scores.astype(np.float64)
        mean = np.average(wide, weights=weight)
        return float(np.sqrt(np.average((wide - mean) ** 2, weights=weight))) or 1.0

    @cached_property
    def sides(self) -> Sides | None:
        """Both classes by ranks, for rows without weights; None where there is nothing such."""
        if self.weight is not None or not self.rectangles:
            return None
        return sides_of(self.target.numpy(), self.groups.numpy())

    def risk(self, objective: Objective, scores: Tensor) -> Tensor:
        """The mean risk over the users with both classes, for every row of ``scores``."""
        total = scores.sum(-1) * 0
        for part in self.rectangles:
            risks = objective.risk(part.at(scores)).unflatten(0, (len(scores), -1))
            total = total + risks.sum(-1)
        return total / max(1, self.ranked)

    def gain(self, scores: Tensor, k: int) -> Tensor:
        """Micro-pAp@k (Eq. 17, ties against the ranking) for every row of ``scores``."""
        if self.sides is not None and k <= _FEW:
            found = gains(self.sides, padded(scores.detach().numpy()), k).mean(1)
            return torch.from_numpy(found)
        total = scores.new_zeros(len(scores), dtype=torch.float64)
        for part in self.rectangles:
            lists = part.at(scores)
            target = torch.cat([lists.positives * 0 + 1, lists.negatives * 0], -1)
            with warnings.catch_warnings():
                # Counted once, before, and not at every look.
                warnings.filterwarnings("ignore", "some lists have fewer than k", RuntimeWarning)
                values = pap_at_k(
                    lists.scores,
                    target,
                    k=k,
                    weight=lists.weight,
                    mask=lists.weight > 0,
                    ties="against",
                    average="none",
                )
            total += torch.as_tensor(values).unflatten(0, (len(scores), -1)).sum(-1)
        return total / max(1, self.ranked)

    def subset(self, chosen: Tensor) -> tuple[Tensor, Users]:
        """The rows of some users, one boolean for each, and these users on those rows alone."""
        mask = chosen[self.groups]
        rows = mask.nonzero().squeeze(-1)
        places = mask.long().cumsum(0) - 1
        parts = (part.of(chosen, places) for part in self.rectangles)
        groups = (chosen.long().cumsum(0) - 1)[self.groups[rows]]
        weight = None if self.weight is None else self.weight[rows]
        kept = tuple(part for part in parts if part is not None)
        return rows, Users(self.target[rows], weight, groups, kept)
