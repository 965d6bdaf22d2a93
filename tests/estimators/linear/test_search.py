from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.estimators.linear.design import Design
from rankwise.estimators.linear.search import search


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_least_squares_with_a_ridge_about_a_point(ridge: float) -> None:
    rng = np.random.default_rng(0)
    X, wanted, about = rng.normal(size=(40, 3)), rng.normal(size=40), np.array([1.0, 2, 3])
    target = torch.from_numpy(wanted)
    found, steps = search(
        Design(X, None, raw=True),
        lambda scores: 0.5 * ((scores - target) ** 2).sum(),
        np.zeros(4),
        ridge=ridge,
        about=about,
        max_iter=200,
        tolerance=1e-9,
    )
    # The normal equations, with the intercept as a column of ones that has no ridge.
    A, R = np.column_stack([X, np.ones(40)]), np.diag([ridge] * 3 + [0.0])
    solution = np.linalg.solve(A.T @ A + R, A.T @ wanted + R @ np.append(about, 0))
    np.testing.assert_allclose(found, solution, rtol=1e-5, atol=1e-7)
    assert steps >= 1
