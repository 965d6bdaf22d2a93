"""Interactions made ready for training and evaluation."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.data import DataError
from rankwise.data.interactions import FeatureTable, Interactions, split_by_user
from rankwise.errors import UsageError
from rankwise.tasks.recommendation.settings import Settings

WHOLE = 1 << 31  # maximum users × items whose scores are all made without being asked
_SAMPLE = 10_000  # users of validation beyond


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which items every user has, sorted: those of user u are ``items[start[u]:start[u + 1]]``."""

    start: Tensor  # (users + 1,)
    items: Tensor  # (pairs,)
    n_items: int  # of the catalog

    @classmethod
    def of(
        cls, user: NDArray[np.int64], item: NDArray[np.int64], n_users: int, n_items: int
    ) -> Pairs:
        """Made of two columns."""
        cells = user * n_items + item  # sorts several times as fast as two columns
        cells.sort()
        start = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=n_users))])
        return cls(torch.from_numpy(start), torch.from_numpy(cells % n_items), n_items)

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

    @cached_property
    def users(self) -> Tensor:
        """User of each pair."""
        return torch.repeat_interleave(torch.arange(self.n_users), self.counts)

    def only(self, users: Tensor) -> Pairs:
        """The pairs of some users, whose numbers ascend; the others have none."""
        counts = torch.zeros_like(self.counts).index_copy_(0, users, self.counts[users])
        start = torch.cat([self.start[:1], counts.cumsum(0)])
        return Pairs(start, self.items[self.of_users(users)[1]], self.n_items)

    def of_sample(self, count: int, seed: int) -> Pairs:
        """The pairs of some users drawn at random among those who have any."""
        have = (self.counts > 0).nonzero().squeeze(1)
        if len(have) <= count:
            return self
        generator = torch.Generator().manual_seed(seed)
        return self.only(have[torch.randperm(len(have), generator=generator)[:count]].sort().values)

    def transposed(self) -> Pairs:
        """The users of every item, as if they were its items."""
        order = self.items.argsort(stable=True)
        start = torch.bincount(self.items, minlength=self.n_items).cumsum(0)
        return Pairs(torch.cat([start.new_zeros(1), start]), self.users[order], self.n_users)

    def of_users(self, users: Tensor) -> tuple[Tensor, Tensor]:
        """Every pair of some users: the place of the user among them, and where the pair is."""
        if len(users) and bool((users.diff() == 1).all()):  # neighbors, in order: a slice will do
            first, last = int(self.start[users[0]]), int(self.start[users[-1] + 1])
            return self.users[first:last] - users[0], torch.arange(first, last)
        counts = self.counts[users]
        rows = torch.repeat_interleave(torch.arange(len(users)), counts)
        before = self.start[users] - (counts.cumsum(0) - counts)
        return rows, torch.arange(len(rows)) + before[rows]

    def cells(self, users: Tensor) -> Tensor:
        """Where the pairs of some users are in a flat (len(users), n_items) rectangle."""
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


@dataclass(frozen=True, eq=False)
class Problem:
    """Positive pairs of every part, and what users have seen of each."""

    users: tuple[str, ...]
    items: tuple[str, ...]
    user: NDArray[np.int64]  # of every interaction
    item: NDArray[np.int64]
    positive: NDArray[np.bool_]
    part: NDArray[np.int8]
    undivided: int  # users with too few interactions to be split
    user_features: Tensor | None = None
    item_features: Tensor | None = None
    without_features: tuple[int, ...] = (0, 0)  # users, items
    published: bool = False  # whether the test part came with the data
    remarks: tuple[str, ...] = ()  # on what was left out

    def pairs(self, parts: tuple[int, ...], *, positive: bool = True) -> Pairs:
        """The pairs of some parts; without ``positive`` also those rated too low for it."""
        chosen = np.isin(self.part, parts)
        if positive:
            chosen &= self.positive
        return Pairs.of(self.user[chosen], self.item[chosen], len(self.users), len(self.items))

    def validation(self, settings: Settings) -> Pairs:
        """The positives of the validation part, of a sample of users where there are many.

        ``validation_users`` is the size of the sample. Unless it is given, it is 10 000 users where
        they and the items have more than 2³¹ scores, and all users below.
        """
        found, count = self.pairs((1,)), settings.validation_users
        users = int((found.counts > 0).sum())
        if count is None:
            count = _SAMPLE if users * found.n_items > WHOLE else users
        return found.of_sample(count, settings.seed)

    def learned(self, *, refit: bool) -> Pairs:
        """What a model is made of: the positives to train on, after a refit all but the test."""
        return self.pairs((0, 1) if refit else (0,))

    def fingerprint(self) -> str:
        """A word that changes when what is learned does."""
        found = hashlib.sha256("\n".join((*self.users, "", *self.items)).encode())
        for part in (self.user, self.item, self.positive, self.part):
            found.update(part.tobytes())
        for known in (self.user_features, self.item_features):
            if known is not None:
                found.update(known.numpy().tobytes())
        return found.hexdigest()[:16]

    def counts(self) -> dict[str, int]:
        """What there is, and what there is not, for the page and for ``results.json``."""
        train = np.bincount(self.user[self.positive & (self.part == 0)], minlength=len(self.users))
        seen = np.bincount(self.item[self.part == 0], minlength=len(self.items))
        test = np.bincount(self.user[self.positive & (self.part == 2)], minlength=len(self.users))
        return {
            "users": len(self.users),
            "items": len(self.items),
            "interactions": len(self.user),
            "positives": int(self.positive.sum()),
            "training positives": int(train.sum()),
            "validation positives": int((self.positive & (self.part == 1)).sum()),
            "test positives": int(test.sum()),
            "users with too few interactions to split, all used for training": self.undivided,
            "users without training positives": int((train == 0).sum()),
            "users without test positives": int((test == 0).sum()),
            "items without training interactions": int((seen == 0).sum()),
            "users without features": self.without_features[0],
            "items without features": self.without_features[1],
        }


def prepared(
    interactions: Interactions,
    settings: Settings,
    user_features: FeatureTable | None = None,
    item_features: FeatureTable | None = None,
) -> Problem:
    """Split the interactions of each user; raise where nothing could be learned."""
    tables = (user_features, item_features)
    if any(tables) and settings.model != "two_tower":
        raise UsageError(
            f"features need --model two_tower: {settings.model} knows users and items by id only"
        )
    shares = {"validation": settings.validation, "test": settings.test}
    parts = split_by_user(interactions, by=settings.split, **shares, seed=settings.seed)
    positive = interactions.positive(settings.threshold)
    limit = ""
    if settings.threshold is not None:
        limit = f": no rating is {settings.threshold:g} or more; lower --threshold"
    for part, name in enumerate(("training", "validation", "test")):
        if not (positive & (parts.part == part)).any():
            few = "; take one of each user with --validation 1" * (part == 1 and not limit)
            raise DataError(f"{interactions.path}: the {name} part has no positive{limit}{few}")
    if len(interactions.items) < 2:
        raise DataError(f"{interactions.path}: has one item only; there is nothing to rank")
    users, items = (None if each is None else torch.from_numpy(each.values) for each in tables)
    problem = Problem(
        interactions.users,
        interactions.items,
        interactions.user,
        interactions.item,
        positive,
        parts.part,
        parts.undivided,
        users,
        items,
        tuple(0 if each is None else each.without for each in tables),
        published=interactions.part is not None and bool((interactions.part == 2).any()),
        remarks=interactions.remarks,
    )
    chosen, every = problem.validation(settings), problem.pairs((1,))
    if len(chosen) == len(every):
        return problem
    sample, of = (int((pairs.counts > 0).sum()) for pairs in (chosen, every))
    remark = f"validation on {sample:,} of {of:,} users, drawn at random (--validation-users)"
    return replace(problem, remarks=(*problem.remarks, remark))


def codes_of(
    wanted: Sequence[str], known: Sequence[str], what: str, source: object
) -> NDArray[np.int64]:
    """Return the number of every id; unknown ids raise, all of them in one line."""
    place = {name: number for number, name in enumerate(known)}
    unknown = list(dict.fromkeys(name for name in wanted if name not in place))
    if unknown:
        shown = ", ".join(repr(name) for name in unknown[:5])
        more = ", …" if len(unknown) > 5 else ""
        near = get_close_matches(unknown[0], known[:10_000], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise DataError(
            f"{source}: {len(unknown)} unknown {what} {'ids' if len(unknown) > 1 else 'id'}: "
            f"{shown}{more}; the model knows the {len(known)} {what}s it was trained on{hint}"
        )
    return np.array([place[name] for name in wanted], dtype=np.int64)
