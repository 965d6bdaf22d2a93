"""Users with their items: something to learn, few positives, users of many sizes."""

from __future__ import annotations

import numpy as np

from rankwise.estimators.data import Part


def users(count: int = 40, seed: int = 0, columns: int = 6) -> tuple[np.ndarray, ...]:
    """X, y and the user of every row; positives lie along one direction, users are shifted."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(15, 60, count)
    groups = np.repeat(np.arange(count), sizes)
    X = rng.normal(size=(len(groups), columns)) + rng.normal(size=(count, 1))[groups]
    direction = np.linspace(1, -1, columns)
    y = X @ direction + rng.normal(size=len(groups)) > 2.2
    first = np.searchsorted(groups, np.arange(count))
    y[first], y[first + 1] = True, False
    order = rng.permutation(len(groups))
    return X[order], y[order].astype(int), groups[order]


def part(count: int = 40, seed: int = 0, weight: np.ndarray | None = None) -> Part:
    X, y, groups = users(count, seed)
    return Part(X, y.astype(float), weight, groups.astype(np.int64))
