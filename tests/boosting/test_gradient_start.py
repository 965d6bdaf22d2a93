from __future__ import annotations

import math

import numpy as np
import pytest

from rankwise.boosting.gradient import first_score
from rankwise.boosting.objectives import stateless_objective

PRIORS = [0.02, 0.5, 0.9]


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", ["cross_entropy", "ap", "auc", None])
def test_log_odds_of_the_prior(name, prior) -> None:
    objective = None if name is None else stateless_objective(name)
    assert first_score(objective, prior) == pytest.approx(math.log(prior / (1 - prior)), abs=1e-6)


@pytest.mark.parametrize("prior", PRIORS)
def test_best_constant_of_the_focal_loss(prior) -> None:
    def risk(score: float) -> float:
        p = 1 / (1 + math.exp(-score))
        return -prior * (1 - p) ** 2 * math.log(p) - (1 - prior) * p**2 * math.log(1 - p)

    found = first_score(stateless_objective("focal"), prior)
    steps = np.linspace(-6, 6, 2401)
    assert found == pytest.approx(min(steps, key=risk), abs=0.01)
