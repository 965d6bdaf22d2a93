from __future__ import annotations

import numpy as np
import pytest
from tests.estimators.papk.generated import part

from rankwise.estimators.linear.design import Design
from rankwise.estimators.papk import Users
from rankwise.estimators.papk.start import logistic_start


@pytest.mark.parametrize("weighted", [False, True])
def test_the_start_has_no_slope(weighted):
    rows, alpha = part(12), 0.1
    weight = np.random.default_rng(0).uniform(0.5, 2, len(rows)) if weighted else None
    users = Users.of(rows.target > 0, rows.groups, weight)
    design = Design(rows.X, weight)
    weights, intercept = logistic_start(design, users, alpha=alpha, unit=False)
    mass = np.ones(len(rows)) if weight is None else weight
    probability = 1 / (1 + np.exp(-(design.matrix @ weights + intercept)))
    errors = mass * (probability - rows.target) / mass.sum()
    np.testing.assert_allclose(design.matrix.T @ errors + alpha * weights, 0, atol=1e-4)
    assert errors.sum() == pytest.approx(0, abs=1e-4)


def test_the_unit_of_a_hinge_is_the_spread_of_the_scores():
    rows = part(12)
    users, design = Users.of_part(rows), Design(rows.X, None)
    plain, bias = logistic_start(design, users, alpha=0.1, unit=False)
    scaled, smaller = logistic_start(design, users, alpha=0.1, unit=True)
    spread = (design.matrix @ plain).std()
    np.testing.assert_allclose(scaled, plain / spread)
    assert smaller == pytest.approx(bias / spread)
    assert (design.matrix @ scaled).std() == pytest.approx(1)
