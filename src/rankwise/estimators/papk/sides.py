"""The positives or the negatives of all users, and the highest of each user's under many scorings.

Plain arrays and no graph: what is descended here has its subgradient in closed form, by the ranks
that items have in their list. Scores are (settings, rows + 1): the last column is −∞ and stands
for an item that is not there. Everything by rank is (ranks, settings, users).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ranked", "Side", "Sides", "padded", "sides_of"]

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]

_WIDER = 1.3  # how much longer the longest list of a rectangle may be than its shortest


def padded(scores: Floats) -> Floats:
    """The scores of all rows, and −∞ for a row that is not there."""
    wide = np.empty((len(scores), scores.shape[1] + 1), dtype=scores.dtype)
    wide[:, :-1], wide[:, -1] = scores, -np.inf
    return wide


@dataclass(frozen=True)
class Ranked:
    """The highest items of some users, by descending score."""

    users: Ints
    values: Floats  # (ranks, settings, users), −∞ where a user has no more items
    rows: Ints  # of which row each value is
    next: Floats  # (settings, users) the value after the last rank, −∞ if there is none

    def cut(self, by_rank: Floats, beyond: Floats | float, inside: bool) -> NDArray[np.bool_]:
        """Whether equal scores are treated unequally, (settings, users).

        ``inside``: not only where the ranks end.
        """
        parted: NDArray[np.bool_] = (self.values[-1] == self.next) & (by_rank[-1] != beyond)
        if inside:
            alike = self.values[1:] == self.values[:-1]
            parted |= (alike & (by_rank[1:] != by_rank[:-1])).any(0)
        return parted


@dataclass(frozen=True)
class Side:
    """The rows of one class, user by user; every user has at least one."""

    rows: Ints  # (items,) sorted by user
    sizes: Ints  # (users,)
    missing: int  # the column of what is not there

    @cached_property
    def _starts(self) -> Ints:
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def _users(self) -> Ints:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def _rectangles(self) -> tuple[tuple[Ints, Ints], ...]:
        """Users with about as many items, and (users, items) the rows of these, padded."""
        order = np.argsort(self.sizes, kind="stable")
        found, begin = [], 0
        while begin < len(order):
            longest = max(8, int(_WIDER * self.sizes[order[begin]]))
            end = int(np.searchsorted(self.sizes[order], longest, side="right"))
            users = order[begin:end]
            offset = np.arange(self.sizes[users[-1]])
            there = offset < self.sizes[users, None]
            items = np.where(there, self._starts[users, None] + offset, 0)
            found.append((users, np.where(there, self.rows[items], self.missing)))
            begin = end
        return tuple(found)

    def sums(self, scores: Floats) -> NDArray[np.float64]:
        """The sum over each user's items, (settings, users)."""
        own = scores.take(self.rows, axis=1)
        total: NDArray[np.float64] = np.add.reduceat(own, self._starts, axis=1, dtype=np.float64)
        return total

    def fill(self, out: Floats, by_user: Floats) -> None:
        """Give every item of a user the same."""
        for own, value in zip(out, by_user, strict=True):
            own[self.rows] = value.take(self._users)

    def ranked(self, scores: Floats, count: int | None = None) -> Iterator[Ranked]:
        """The ``count`` highest items of each user, or all, a rectangle of users at a time."""
        for users, rows in self._rectangles:
            width = rows.shape[1]
            taken = width if count is None else min(count, width)
            values = scores.take(rows.ravel(), axis=1).reshape(-1, *rows.shape)
            order = values.argsort(axis=-1)
            after = np.full(values.shape[:2], -np.inf, dtype=scores.dtype)
            if taken < width:
                after = np.take_along_axis(values, order[..., -taken - 1, None], -1)[..., 0]
            # First ranks first, and by rank: what follows goes over users and settings at once.
            best = np.ascontiguousarray(order[..., : -taken - 1 : -1].transpose(2, 0, 1))
            best += np.arange(len(users)) * width
            where = rows.ravel().take(best)
            best += (np.arange(len(scores)) * rows.size)[:, None]
            yield Ranked(users, values.ravel().take(best), where, after)

    def top(self, scores: Floats, count: int) -> Ranked:
        """The ``count`` highest items of all users."""
        shape = (count, len(scores), len(self.sizes))
        values = np.full(shape, -np.inf, dtype=scores.dtype)
        rows = np.full(shape, self.missing)
        after = np.full(shape[1:], -np.inf, dtype=scores.dtype)
        for part in self.ranked(scores, count):
            values[: len(part.values), :, part.users] = part.values
            rows[: len(part.rows), :, part.users] = part.rows
            after[:, part.users] = part.next
        return Ranked(np.arange(len(self.sizes)), values, rows, after)

    def top_values(self, scores: Floats, count: int) -> Floats:
        """The same without saying which items they are, in no order: half of the time."""
        found = np.full((count, len(scores), len(self.sizes)), -np.inf, dtype=scores.dtype)
        for users, rows in self._rectangles:
            values = scores.take(rows.ravel(), axis=1).reshape(-1, *rows.shape)
            if count < rows.shape[1]:
                values.sort(axis=-1)
            best = values[..., -count:]
            found[: best.shape[-1], :, users] = best.transpose(2, 0, 1)
        return found

    def put(
        self,
        out: Floats,
        scores: Floats,
        ranked: Ranked,
        by_rank: Floats,
        *,
        beyond: Floats | float = 0.0,
        inside: bool = False,
    ) -> None:
        """Give every ranked item what its rank gets, and items of equal score the same.

        ``beyond`` is what the items after the last rank have in ``out`` already. ``inside`` says
        that equal scores within the ranks may be given unequal parts.
        """
        offset = np.arange(len(out))[:, None] * out.shape[1]
        np.put(out, ranked.rows + offset, by_rank)
        parted = ranked.cut(by_rank, beyond, inside)
        if not parted.any():
            return
        parted &= ranked.values[0] > -np.inf
        rest = np.broadcast_to(beyond, parted.shape)
        place = np.full(len(self.sizes), -1)
        place[ranked.users] = np.arange(len(ranked.users))
        for users, rows in self._rectangles:
            own = place[users]
            known = np.flatnonzero(own >= 0)
            setting, user = np.nonzero(parted[:, own[known]])
            if len(setting):
                where, user = rows[known[user]], own[known[user]]
                given = np.repeat(rest[setting, user][:, None], where.shape[1], axis=1)
                taken = min(len(by_rank), where.shape[1])
                given[:, :taken] = by_rank[:taken, setting, user].T
                _share(out, scores, setting[:, None], where, given)


def _share(out: Floats, scores: Floats, setting: Ints, rows: Ints, by_rank: Floats) -> None:
    """Equal scores of a list get the mean of what their ranks get."""
    lists, width = rows.shape
    values = scores[setting, rows]
    order = values.argsort(axis=-1)[:, ::-1]
    ranked = np.take_along_axis(values, order, -1)
    level = np.zeros((lists, width), dtype=np.int64)
    level[:, 1:] = (ranked[:, 1:] != ranked[:, :-1]).cumsum(-1)
    level += np.arange(lists)[:, None] * width
    total = np.bincount(level.ravel(), by_rank.ravel())
    mean = total / np.maximum(1, np.bincount(level.ravel()))
    out[setting, np.take_along_axis(rows, order, -1)] = mean[level]


@dataclass(frozen=True)
class Sides:
    """Both classes of the users who have both; a user has the same number in each."""

    positives: Side
    negatives: Side

    @property
    def number(self) -> int:
        """How many users there are."""
        return len(self.positives.sizes)


def sides_of(target: NDArray[np.bool_], groups: Ints) -> Sides:
    """The users of rows with their 0/1 targets."""
    number = int(groups.max()) + 1 if len(groups) else 0
    sizes = [np.bincount(groups[own], minlength=number) for own in (target, ~target)]
    complete = (sizes[0] > 0) & (sizes[1] > 0)
    order = np.argsort(groups, kind="stable")
    sides = []
    for own, size in zip((target, ~target), sizes, strict=True):
        chosen = order[(own & complete[groups])[order]]
        sides.append(Side(chosen, size[complete], len(groups)))
    return Sides(*sides)
