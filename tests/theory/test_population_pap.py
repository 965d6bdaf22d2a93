from __future__ import annotations

import pytest
import torch

from rankwise.metrics import pap_at_k
from rankwise.theory import Population, population_pap_risk


def grid(low, high, n):
    return low + (torch.arange(n, dtype=torch.float64) + 0.5) / n * (high - low)


def test_the_uniform_laws_by_hand():
    rare = Population(grid(0.5, 1.5, 400), grid(0.0, 1.0, 4_000))
    # γ⁺ = 1: all of U(.5, 1.5) against U(.8, 1): E[s⁻] − .5
    assert population_pap_risk(rare, 0.2) == pytest.approx(0.4, abs=2e-3)
    # γ⁺ = .8: U(.7, 1.5) against U(.8, 1): (E[s⁻] − .7)/.8
    assert population_pap_risk(rare, 0.2, 0.8) == pytest.approx(0.2 / 0.8, abs=2e-3)
    common = Population(grid(0.5, 1.5, 4_000), grid(0.0, 1.0, 4_000))
    assert population_pap_risk(common, 0.2) == 0  # the top fifth of U(.5, 1.5) is above 1


@pytest.mark.parametrize(("n_positives", "k"), [(30, 40), (100, 40)])
def test_a_sample_is_the_population_with_k_over_n(n_positives, k):
    torch.manual_seed(0)
    positives, negatives = torch.randn(n_positives) + 1, torch.randn(100)
    population = Population(positives, negatives)
    scores = torch.cat([positives, negatives])
    gain = pap_at_k(scores, torch.arange(len(scores)) < n_positives, k=k)
    assert population_pap_risk(population, k / 100) == pytest.approx(1 - float(gain))


@pytest.mark.parametrize("rates", [(0.0,), (1.5,), (0.1, 0.0)])
def test_rates_are_checked(rates):
    with pytest.raises(ValueError, match=r"rate must lie in \(0, 1\]"):
        population_pap_risk(Population(torch.ones(3), torch.zeros(3)), *rates)
