"""Interactions as numbers, and their split within every user."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rankwise.checks import require_one_of
from rankwise.data.errors import DataError
from rankwise.errors import UsageError


@dataclass(frozen=True, eq=False)
class Interactions:
    """Rows of a file of interactions; every (user, item) pair occurs once.

    Args:
        path: The file.
        user: Number of the user of every row, below ``len(users)``.
        item: Number of the item of every row, below ``len(items)``.
        value: Rating of every row; 1 where the file has none.
        time: Time of every row, or None.
        users: Id of every user as in the file.
        items: Id of every item as in the file.
        replaced: Rows left out because the same pair came again later.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from rankwise.data.interactions import Interactions
        >>> rows = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([5.0, 3.0, 4.0])
        >>> ratings = Interactions(Path("ratings"), *rows, None, ("ann", "bob"), ("a", "b"))
        >>> ratings.positive(4).tolist()
        [True, False, True]
    """

    path: Path
    user: NDArray[np.int64]
    item: NDArray[np.int64]
    value: NDArray[np.float64]
    time: NDArray[np.float64] | None
    users: tuple[str, ...]
    items: tuple[str, ...]
    replaced: int = 0

    def __len__(self) -> int:
        return len(self.user)

    def positive(self, threshold: float | None) -> NDArray[np.bool_]:
        """Return which rows are positives: values from ``threshold`` on; None: all rows."""
        return np.ones(len(self), bool) if threshold is None else self.value >= threshold


By = Literal["time", "random"]

TRAIN, VALIDATION, TEST = range(3)


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of the interactions: training, validation and test.

    Args:
        part: Part of every interaction: 0 training, 1 validation, 2 test.
        undivided: Users with too few interactions, all of which are for training.

    Example:
        >>> import numpy as np
        >>> from rankwise.data.interactions import Parts
        >>> Parts(np.array([0, 0, 1, 2], dtype=np.int8), undivided=0).test.tolist()
        [False, False, False, True]
    """

    part: NDArray[np.int8]
    undivided: int

    @property
    def train(self) -> NDArray[np.bool_]:
        """Rows of the training part."""
        return np.asarray(self.part == TRAIN)

    @property
    def validation(self) -> NDArray[np.bool_]:
        """Rows of the validation part."""
        return np.asarray(self.part == VALIDATION)

    @property
    def test(self) -> NDArray[np.bool_]:
        """Rows of the test part."""
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

    A user keeps at least one interaction for training. A user with too few is not split: all of
    its interactions are for training, and it is counted. Interactions of the same time are in
    random order.

    Args:
        interactions: Interactions to split.
        by: ``"time"`` (the last ones) or ``"random"``.
        validation: Share of a user's interactions below 1, rounded; a number of them from 1 on.
        test: The same for the test part. 1 and 1 is leave one out.
        seed: Random seed.

    Returns:
        The part of every interaction.

    Raises:
        DataError: If there is no time to split by, or no user has enough interactions.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from rankwise.data.interactions import Interactions, split_by_user
        >>> user, item, time = np.zeros(4, dtype=int), np.arange(4), np.array([3.0, 1.0, 4.0, 2.0])
        >>> rows = Interactions(Path("log"), user, item, np.ones(4), time, ("ann",), tuple("abcd"))
        >>> split_by_user(rows, by="time", validation=1, test=1).part.tolist()
        [1, 0, 2, 0]
    """
    require_one_of("by", by, get_args(By))
    for name, share in (("validation", validation), ("test", test)):
        if not (0 <= share < 1 or (float(share).is_integer() and share >= 1)):
            raise UsageError(
                f"{name} must be a share in [0, 1) or a whole number of interactions, got {share}"
            )
    if test == 0:
        raise UsageError("test must be above 0: there would be nothing to evaluate on")
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
