"""Generated rows with something to learn."""

from __future__ import annotations

import numpy as np

Rows = tuple[np.ndarray, np.ndarray]


def misspecified(n: int = 3000, seed: int = 0) -> Rows:
    """Positives of two kinds that no one direction finds.

    Half of them are far out along the second column, the others a little way along the first and
    back on the second. Log-loss looks for both; the top of the list is better with the first kind.
    """
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.08).astype(int)
    X = rng.normal(size=(n, 3))
    far = (y == 1) & (rng.random(n) < 0.5)
    X[far, 1] += 4
    X[(y == 1) & ~far, :2] += [1.5, -1.5]
    return X, y
