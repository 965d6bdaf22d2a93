"""Small interactions with something to be learned: users and items of two kinds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankwise.data.interactions import Interactions
from rankwise.tasks.recommendation import Pairs, Settings

# A random start and a constant rate: on data this small the spectral start is the best epoch.
SMALL = dict(scores="dot", dimension=4, batch=8, negatives=6, epochs=3, patience=3, metric="ndcg@3",
             start="random", schedule="constant", learning_rate=0.01)  # fmt: skip


def two_kinds(users=20, items=16, each=6, seed=0):
    """Every user takes items of their own kind, even or odd, with a few exceptions."""
    rng = np.random.default_rng(seed)
    rows = []
    for user in range(users):
        own = np.flatnonzero(np.arange(items) % 2 == user % 2)
        other = np.flatnonzero(np.arange(items) % 2 != user % 2)
        taken = [*rng.choice(own, each - 1, replace=False), rng.choice(other)]
        rows += [(user, item, rng.integers(1, 6)) for item in taken]
    user, item, value = (np.array(column) for column in zip(*rows, strict=True))
    return Interactions(
        Path("kinds"),
        user.astype(np.int64),
        item.astype(np.int64),
        value.astype(np.float64),
        rng.permutation(len(user)).astype(np.float64),
        tuple(f"u{n}" for n in range(users)),
        tuple(f"i{n}" for n in range(items)),
    )


def written(path, users=20, items=16, **options):
    """The same as a csv."""
    data = two_kinds(users, items, **options)
    rows = zip(data.user, data.item, data.value, data.time, strict=True)
    lines = [f"{data.users[u]},{data.items[i]},{v:g},{t:g}" for u, i, v, t in rows]
    path.write_text("user_id,item_id,rating,timestamp\n" + "\n".join(lines) + "\n")
    return path


def settings(**options):
    return Settings(**{**SMALL, **options})


def pairs_of(rows, n_items, n_users=None):
    """Pairs of lists of items, one for each user."""
    user = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    item = np.array([item for row in rows for item in row], dtype=np.int64)
    return Pairs.of(user.astype(np.int64), item, n_users or len(rows), n_items)
