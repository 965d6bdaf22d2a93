from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.theory import Population, simulate


def test_prior_and_risk_by_hand():
    population = Population(torch.tensor([3.0, 1.0]), torch.tensor([2.0, 0.0, -1.0]))
    assert population.prior == 2 / 5
    assert population.risk == pytest.approx(1 - (1 / 1 + 2 / 3) / 2)


@pytest.mark.parametrize(
    ("name", "risk"), [("binormal", 0.706), ("bibeta", 0.194), ("offset uniform", 0.340)]
)
def test_risks_of_the_simulations(name, risk):
    assert simulate(name).risk == pytest.approx(risk, abs=0.01)


def test_a_batch_has_no_item_twice_and_positives_first():
    population = Population(torch.arange(10.0), torch.arange(100.0, 130.0))
    batches = population.draw(3, 5, 20, np.random.default_rng(0))
    assert batches.shape == (3, 25)
    for batch in batches:
        assert len(batch.unique()) == 25
        assert (batch[:5] < 10).all()
        assert (batch[5:] >= 100).all()


def test_errors_name_the_argument():
    population = Population(torch.arange(10.0), torch.arange(30.0))
    with pytest.raises(ValueError, match="n_positives must be at most the population's 10, got 11"):
        population.draw(1, 11, 20, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"^name must be one of binormal"):
        simulate("normal")
    with pytest.raises(ValueError, match=r"^prior must"):
        simulate("binormal", size=10, prior=0.0)
