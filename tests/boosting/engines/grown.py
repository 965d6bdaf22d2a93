"""Rows and settings that the tests of the engines share."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.boosting.engines import Engine, Trees
from rankwise.boosting.gradient import log_loss_gradient
from rankwise.boosting.rows import Rows

SETTINGS: dict[str, Any] = {
    "learning_rate": 0.3,
    "num_leaves": 7,
    "min_child_samples": 5,
    "subsample": 1.0,
    "colsample": 1.0,
    "reg": 0.0,
    "n_jobs": 1,
    "seed": 0,
}


def table(n: int = 300, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return Rows((X[:, 0] + rng.normal(size=n) > 0.8).astype(float), X=X)


def grown(
    kind: type[Engine],
    rounds: int = 6,
    held_out: Rows | None = None,
    start: float = -1.0,
    train: Rows | None = None,
    **settings: Any,
) -> Any:
    """An engine with so many trees of log-loss."""
    trees = Trees(**{**SETTINGS, **settings})
    engine = kind(trees, table() if train is None else train, held_out, start)
    for _ in range(rounds):
        assert engine.grow(log_loss_gradient)
    return engine
