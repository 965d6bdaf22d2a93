"""Interactions made ready to learn from and to be judged by."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.data import DataError
from rankwise.data.interactions import FeatureTable, Interactions, split_by_user
from rankwise.errors import UsageError
from rankwise.tasks.recommendation.pairs import Pairs
from rankwise.tasks.recommendation.settings import Settings


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
    without_features: tuple[int, int] = (0, 0)  # users, items

    def pairs(self, parts: tuple[int, ...], *, positive: bool = True) -> Pairs:
        """The pairs of some parts; without ``positive`` also those rated too low for it."""
        chosen = np.isin(self.part, parts)
        if positive:
            chosen &= self.positive
        return Pairs.of(self.user[chosen], self.item[chosen], len(self.users), len(self.items))

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
            "positives to train on": int(train.sum()),
            "positives of validation": int((self.positive & (self.part == 1)).sum()),
            "positives of the test": int(test.sum()),
            "users with too few interactions to be split, all of them to train on": self.undivided,
            "users without a positive to train on": int((train == 0).sum()),
            "users without a positive in the test": int((test == 0).sum()),
            "items nobody has in the training part": int((seen == 0).sum()),
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
    if (user_features or item_features) and settings.model != "two_tower":
        raise UsageError("features need --model two_tower: mf knows users and items by id only")
    try:
        parts = split_by_user(
            interactions,
            by=settings.split,
            validation=settings.validation,
            test=settings.test,
            seed=settings.seed,
        )
    except DataError:
        raise
    except ValueError as error:
        raise UsageError(str(error)) from None
    positive = interactions.positive(settings.threshold)
    for name, rows in (
        ("training", parts.train),
        ("validation", parts.validation),
        ("test", parts.test),
    ):
        if not (positive & rows).any():
            said = (
                "" if settings.threshold is None else f" from the rating {settings.threshold:g} on"
            )
            raise DataError(f"{interactions.path}: the {name} part has no positive{said}")
    if len(interactions.items) < 2:
        raise DataError(f"{interactions.path}: has one item only; there is nothing to rank")
    return Problem(
        interactions.users,
        interactions.items,
        interactions.user,
        interactions.item,
        positive,
        parts.part,
        parts.undivided,
        None if user_features is None else torch.from_numpy(user_features.values),
        None if item_features is None else torch.from_numpy(item_features.values),
        (
            0 if user_features is None else user_features.without,
            0 if item_features is None else item_features.without,
        ),
    )
