"""Interactions as numbers, and their split within every user."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

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
        part: Part of every row where files give it (:func:`join_parts`), or None.
        remarks: Sentences on rows that were left out.

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
    part: NDArray[np.int8] | None = None
    remarks: tuple[str, ...] = ()

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


def join_parts(
    train: Interactions, *, validation: Interactions | None = None, test: Interactions | None = None
) -> Interactions:
    """Join the files of a published split; every row keeps the part it was published for.

    An item that is not in the training file is part of the catalog, as where the split was
    published: it is ranked, though nothing is known of it. Rows of a user who is not in the
    training file, and pairs that an earlier part has, are left out with a remark.

    Args:
        train: Interactions to train on.
        validation: Interactions to choose by; None: :func:`split_by_user` takes some of ``train``.
        test: Interactions to evaluate on; None: :func:`split_by_user` takes some of ``train``.

    Returns:
        All interactions, with ``part``.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from rankwise.data.interactions import Interactions, join_parts
        >>> user, item, value = np.array([0]), np.array([0]), np.array([1.0])
        >>> train = Interactions(Path("train"), user, item, value, None, ("ann",), ("a",))
        >>> test = Interactions(Path("test"), user, item, value, None, ("ann",), ("b",))
        >>> both = join_parts(train, test=test)
        >>> both.items, both.part.tolist()
        (('a', 'b'), [0, 2])
    """
    users, items = (dict(zip(t, range(len(t)), strict=True)) for t in (train.users, train.items))
    joined = replace(train, part=np.zeros(len(train), dtype=np.int8))
    for part, more in ((VALIDATION, validation), (TEST, test)):
        if more is None:
            continue
        user = np.array([users.get(name, -1) for name in more.users], dtype=np.int64)[more.user]
        codes = [items.setdefault(name, len(items)) for name in more.items]
        item, size = np.array(codes, dtype=np.int64)[more.item], len(items)
        again = np.isin(user * size + item, joined.user * size + joined.item)
        new, remarks = ~again & (user >= 0), joined.remarks
        for wrong, why in ((user < 0, "of users without any to train on"),
                           (again, "that an earlier part has")):  # fmt: skip
            if wrong.any():
                row = int(wrong.argmax())
                pair = f"user {more.users[more.user[row]]}, item {more.items[more.item[row]]}"
                remarks += (f"{more.path}: {wrong.sum():,} of {len(more):,} interactions left out, "
                            f"{why} (the first: {pair})",)  # fmt: skip
        if not new.any():
            raise DataError(f"{more.path}: has no new interaction of a user of {train.path}")
        columns = {
            "user": user,
            "item": item,
            "value": more.value,
            "part": np.full(len(more), part),
        }
        if train.time is not None:
            columns["time"] = np.full(len(more), np.nan) if more.time is None else more.time
        grown: dict[str, Any] = {"items": tuple(items), "remarks": remarks}
        for name, column in columns.items():
            grown[name] = np.append(getattr(joined, name), column[new])
        joined = replace(joined, **grown)
    return joined


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
    random order. Of parts that were published (:func:`join_parts`), nothing is taken or added to.

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
    found = np.zeros(len(interactions), np.int8) if (p := interactions.part) is None else p.copy()
    validation, test_share = (
        0 if (found == part).any() else share
        for part, share in ((VALIDATION, validation), (TEST, test))
    )
    free = np.flatnonzero(found == TRAIN)
    rows = len(free)
    chance = np.random.default_rng(seed).random(rows)
    keys = [chance, interactions.user[free]]
    if by == "time" and interactions.time is not None:
        keys.insert(1, interactions.time[free])
    order = np.lexsort(keys)
    user = interactions.user[free][order]
    count = np.bincount(user, minlength=len(interactions.users))
    to_come = np.cumsum(count)[user] - 1 - np.arange(rows)  # of this user after this one
    tested, chosen = _numbers(count, test_share), _numbers(count, validation)
    enough = count > tested + chosen
    if 0 < test_share < 1 and validation < 1:
        # Small shares of few interactions round to nothing; such a user is undivided, too.
        enough &= tested > 0
    part = np.full(rows, TRAIN, dtype=np.int8)
    part[to_come < (tested + chosen)[user]] = VALIDATION
    part[to_come < tested[user]] = TEST
    part[~enough[user]] = TRAIN
    found[free[order]] = part
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
