"""Ratings, likes and pairs of papers, few enough for a test."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankwise.data.interactions import Interactions


def generated_ratings(users: int = 14, items: int = 30, seed: int = 0) -> Interactions:
    """Every user rates most items, in an order of their own."""
    rng = np.random.default_rng(seed)
    who, what, when = [], [], []
    for user in range(users):
        chosen = rng.permutation(items)[: rng.integers(18, items)]
        who += [user] * len(chosen)
        what += chosen.tolist()
        when += rng.permutation(1_000)[: len(chosen)].tolist()
    user, item = np.array(who), np.array(what)
    taste = rng.normal(size=(users, 2)) @ rng.normal(size=(2, items)) + rng.normal(size=items)
    value = np.digitize(taste[user, item], [-1.5, -0.5, 0.3, 1.0]) + 1.0
    return Interactions(
        Path("generated"),
        user,
        item,
        value,
        np.array(when, dtype=float),
        tuple(map(str, range(users))),
        tuple(map(str, range(items))),
    )
