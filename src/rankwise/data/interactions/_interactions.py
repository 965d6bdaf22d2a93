"""Interactions as numbers, and their split within every user."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rankwise.checks import require_one_of
from rankwise.data.errors import DataError


@dataclass(frozen=True, eq=False)
class Interactions:
    """The rows of a file of interactions; every (user, item) pair is there once."""

    path: Path
    user: NDArray[np.int64]  # a number below len(users), for every row
    item: NDArray[np.int64]
    value: NDArray[np.float64]  # the rating; 1 where the file has none
    time: NDArray[np.float64] | None
    users: tuple[str, ...]  # the id of every user as the file has it
    items: tuple[str, ...]
    replaced: int = 0  # rows left out because the same pair came again later

    def __len__(self) -> int:
        return len(self.user)

    def positive(self, threshold: float | None) -> NDArray[np.bool_]:
        """Which rows are positives: values from ``threshold`` on; None: all that is there."""
        if threshold is None:
            return np.ones(len(self), dtype=bool)
        return self.value >= threshold


By = Literal["time", "random"]

TRAIN, VALIDATION, TEST = range(3)


@dataclass(frozen=True, eq=False)
class Parts:
    """Which part every interaction belongs to."""

    part: NDArray[np.int8]  # 0 to train on, 1 to choose by, 2 to test on
    undivided: int  # users with too few interactions, all of which are to train on

    @property
    def train(self) -> NDArray[np.bool_]:
        """Rows to learn from."""
        return np.asarray(self.part == TRAIN)

    @property
    def validation(self) -> NDArray[np.bool_]:
        """Rows to choose by."""
        return np.asarray(self.part == VALIDATION)

    @property
    def test(self) -> NDArray[np.bool_]:
        """Rows to be judged by."""
        return np.asarray(self.part == TEST)


def split_by_user(
    interactions: Interactions,
    *,
    by: By = "random",
    validation: float = 0.1,
    test: float = 0.2,
    seed: int = 0,
) -> Parts:
    """Split the interactions of every user, the last by time or some at random.

    ``validation`` and ``test`` below 1 are shares of a user's interactions, rounded; from 1 on they
    are how many to leave out (1 and 1: leave one out). A user keeps at least one to train on, or
    all of them: who has too few is not divided, and counted. Interactions of one moment are in
    random order.
    """
    require_one_of("by", by, get_args(By))
    for name, share in (("validation", validation), ("test", test)):
        if not (0 <= share < 1 or (float(share).is_integer() and share >= 1)):
            raise ValueError(
                f"{name} must be a share in [0, 1) or a whole number of interactions, got {share}"
            )
    if test == 0:
        raise ValueError("test must be above 0: there would be nothing to be judged by")
    if by == "time" and interactions.time is None:
        raise DataError(f"{interactions.path}: has no time to split by; name its column, or "
                        "split at random")  # fmt: skip
    rows = len(interactions)
    chance = np.random.default_rng(seed).random(rows)
    first = interactions.time if by == "time" else chance
    assert first is not None
    order = np.lexsort((chance, first, interactions.user))
    user = interactions.user[order]
    count = np.bincount(user, minlength=len(interactions.users))
    to_come = np.cumsum(count)[user] - 1 - np.arange(rows)  # of this user after this one
    tested, chosen = _numbers(count, test), _numbers(count, validation)
    enough = count > tested + chosen
    if test < 1 and validation < 1:
        # Small shares of few interactions round to nothing; such a user is undivided, too.
        enough &= tested > 0
    part = np.full(rows, TRAIN, dtype=np.int8)
    part[to_come < (tested + chosen)[user]] = VALIDATION
    part[to_come < tested[user]] = TEST
    part[~enough[user]] = TRAIN
    found = np.empty(rows, dtype=np.int8)
    found[order] = part
    if not (found == TEST).any():
        raise DataError(
            f"{interactions.path}: no user has enough interactions to leave some out; "
            f"the most are {count.max()}"
        )
    return Parts(found, int((~enough & (count > 0)).sum()))


def _numbers(count: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    if share >= 1:
        return np.full(len(count), int(share))
    rounded: NDArray[np.int64] = np.floor(count * share + 0.5).astype(np.int64)
    return rounded
