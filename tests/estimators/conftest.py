# ruff: noqa: N806  (X is what scikit-learn calls the rows)
from __future__ import annotations

import numpy as np
import pytest

Rows = tuple[np.ndarray, np.ndarray]


def misspecified(n: int = 3000, seed: int = 0) -> Rows:
    """Rows on which the logistic model is wrong where it matters, at the top.

    Most positives differ a little from the negatives along the first column. A few negatives far
    out along it are what log-loss must respect least and average precision most.
    """
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.08).astype(int)
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.5 * y
    X[:, 1] += 1.5 * y
    far = (y == 0) & (rng.random(n) < 0.03)
    X[far, 0] += 6
    return X, y


@pytest.fixture(scope="session")
def rows() -> Rows:
    return misspecified(600)


@pytest.fixture(scope="session")
def many_rows() -> Rows:
    return misspecified(3000)
