"""The lists of all users as rectangles, so that scoring them under many settings is one pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.estimators.data import Floats, Part
from rankwise.estimators.linear._search import PlacedLists, spread_of
from rankwise.metrics import pap_at_k
from rankwise.objectives import Objective
from rankwise.objectives._batch import CallArguments, lists_of_rows
from rankwise.objectives.base import Risk

MAX_PAIRED_K = 64  # the largest k for which counting all pairs is faster than sorting them
_BLOCK = 1 << 19  # scores per pass, so that a pass stays in the processor's cache


@dataclass(frozen=True)
class UserCounts:
    """Number of users, and of those among them that cannot be ranked as k asks."""

    users: int
    without_positives: int
    without_negatives: int
    few_negatives: int  # both classes, but fewer than k negatives
    k: int

    def __str__(self) -> str:
        return (
            f"{self.users} users: {self.without_positives} without positives and "
            f"{self.without_negatives} without negatives have nothing to rank and are left out, "
            f"{self.few_negatives} with fewer than k={self.k} negatives are ranked against all "
            "they have"
        )

    def warn(self) -> None:
        """Warn if any user is left out or has fewer than k negatives."""
        if self.without_positives or self.without_negatives or self.few_negatives:
            warnings.warn(str(self), UserWarning, stacklevel=3)


@dataclass(frozen=True)
class Sides:
    """Scores of some users' positives and negatives, (settings, users, items), padded with −∞."""

    positives: Floats
    negatives: Floats
    n_positives: NDArray[np.int64]  # (users,)
    n_negatives: NDArray[np.int64]


class _Rectangle(PlacedLists):
    """Users with lists of similar length, and the rows of their items, (users, items)."""

    @cached_property
    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of the positives and of the negatives, −1 for padding."""
        above = torch.where(self.lists.positive_weight > 0, self.positives, -1)
        below = torch.where(self.lists.negative_weight > 0, self.negatives, -1)
        return above.numpy(), below.numpy()

    def sides(self, scores: Floats) -> Sides:
        """Return both classes under every row of ``scores``, whose last column is −∞."""
        sizes = [(rows >= 0).sum(-1) for rows in self.rows]
        values = [scores[:, rows] for rows in self.rows]
        return Sides(values[0], values[1], sizes[0], sizes[1])

    def of(self, chosen: Tensor, places: Tensor) -> _Rectangle:
        """Select the users for whom ``chosen`` is True, their items at new ``places``."""
        kept = self.lists.select(chosen[self.lists.ids])
        above, below = (places[side.long()].double() for side in (kept.positives, kept.negatives))
        return _Rectangle(replace(kept, positives=above, negatives=below))


@dataclass(frozen=True)
class Users:
    """Rows with their 0/1 targets, weights and users, and the users who have both classes."""

    target: Tensor
    weight: Tensor | None
    groups: Tensor
    rectangles: tuple[_Rectangle, ...]

    @classmethod
    def of_part(cls, part: Part) -> Users:
        """Read the users 0, 1, … of some rows; without groups all rows are one user's."""
        groups = np.zeros(len(part), dtype=np.int64) if part.groups is None else part.groups
        labels, users = torch.from_numpy(part.target > 0), torch.from_numpy(groups)
        masses = None if part.weight is None else torch.from_numpy(part.weight)
        ids = torch.arange(int(users.max()) + 1 if len(users) else 0)
        arguments = CallArguments(groups=users, weight=masses, list_ids=ids)
        rectangles = tuple(map(_Rectangle, lists_of_rows(labels, arguments, "list")))
        return cls(labels, masses, users, rectangles)

    @property
    def number(self) -> int:
        """Number of users, with or without both classes."""
        return int(self.groups.max()) + 1

    @property
    def ranked(self) -> int:
        """Number of users with both classes."""
        return sum(len(part.lists.ids) for part in self.rectangles)

    def counts(self, k: int) -> UserCounts:
        """Count the users that cannot be ranked; rows of weight 0 do not count."""
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

    def spread(self, scores: Floats) -> float:
        """Return the standard deviation of the rows' scores, 1 where they are all equal."""
        return spread_of(scores, None if self.weight is None else self.weight.numpy())

    def risk(self, objective: Objective, scores: Tensor) -> Tensor:
        """Compute the mean risk over the users with both classes for every row of ``scores``."""
        total = scores.sum(-1) * 0
        for part in self.rectangles:
            found = objective.risk(part.at(scores))
            risks = found.values if isinstance(found, Risk) else found
            total = total + risks.unflatten(0, (len(scores), -1)).sum(-1)
        return total / max(1, self.ranked)

    def by_side(self, function: Callable[[Sides], tuple[Floats, Floats]], scores: Tensor) -> Tensor:
        """Put what ``function`` gives to each positive and negative at their rows.

        For rows without weights. ``scores`` is (settings, rows), and so is the result.
        """
        out = torch.empty_like(scores)
        step = max(1, _BLOCK // max(1, scores.shape[1]))
        for start in range(0, len(scores), step):
            padded = _padded(scores[start : start + step])
            found = np.zeros_like(padded)
            for part in self.rectangles:
                values = function(part.sides(padded))
                for rows, side in zip(part.rows, values, strict=True):
                    found[:, rows.ravel()] = side.reshape(len(found), -1)
            out[start : start + step] = torch.from_numpy(found[:, :-1])
        return out

    def gain(self, scores: Tensor, k: int) -> Tensor:
        """Compute Micro-pAp@k (Eq. 17, ties against the ranking) for every row of ``scores``."""
        total = scores.new_zeros(len(scores), dtype=torch.float64)
        if self.weight is None and k <= MAX_PAIRED_K:
            padded = _padded(scores)
            for part in self.rectangles:
                total += torch.from_numpy(_gains(part.sides(padded), k).sum(-1))
            return total / max(1, self.ranked)
        for part in self.rectangles:
            lists = part.at(scores)
            with warnings.catch_warnings():
                # UserCounts.warn reports these users once, before the descent.
                warnings.filterwarnings("ignore", "some lists have fewer than k", RuntimeWarning)
                values = pap_at_k(
                    lists.scores,
                    lists.relevances,
                    k=k,
                    weight=lists.weight,
                    mask=lists.weight > 0,
                    ties="against",
                    average="none",
                )
            total += torch.as_tensor(values).unflatten(0, (len(scores), -1)).sum(-1)
        return total / max(1, self.ranked)

    def subset(self, chosen: Tensor) -> tuple[Tensor, Users]:
        """Return the rows of the chosen users, and these users on those rows alone."""
        mask = chosen[self.groups]
        rows = mask.nonzero().squeeze(-1)
        places = mask.long().cumsum(0) - 1
        kept = [part.of(chosen, places) for part in self.rectangles if chosen[part.lists.ids].any()]
        groups = (chosen.long().cumsum(0) - 1)[self.groups[rows]]
        weight = None if self.weight is None else self.weight[rows]
        return rows, Users(self.target[rows], weight, groups, tuple(kept))


def _padded(scores: Tensor) -> Floats:
    """Append a column of −∞, the score of padding."""
    return torch.nn.functional.pad(scores.detach(), (0, 1), value=-torch.inf).numpy()


def _gains(sides: Sides, k: int) -> NDArray[np.float64]:
    """Compute pAp@k of every user, ties against the ranking, (settings, users)   (Eq. 1)."""
    above, below = (np.sort(side)[..., -k:] for side in (sides.positives, sides.negatives))
    above[above == -np.inf] = np.inf
    wrong = sum((below[..., [j]] >= above).sum(-1) for j in range(below.shape[-1]))
    pairs = np.minimum(sides.n_positives, k) * np.minimum(sides.n_negatives, k)
    return np.asarray(1 - wrong / pairs)
