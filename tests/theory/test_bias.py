"""The claim of SOPRC's Proposition 2, with a tolerance from the run's own standard error."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from rankwise.lists import split_lists
from rankwise.metrics import auprc, average_precision
from rankwise.theory import (
    SIMULATIONS,
    Bias,
    Population,
    batch_ap,
    estimator_bias,
    prior_only,
    simulate,
    soprc,
)

RATES = (0.01, 0.02, 0.03, 0.2)


@cache
def population(name: str) -> Population:
    return simulate(name, seed=5)


@cache
def biases(name: str, rate: float, size: int) -> dict[str, Bias]:
    rows = estimator_bias(
        population(name), rate=rate, size=size, draws=150, chains=15, burn_in=60, seed=11
    )
    return {row.estimator: row for row in rows}


@pytest.mark.parametrize("size", [500, 2000])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", SIMULATIONS)
def test_batch_ap_is_biased_by_the_sampling_rate_and_soprc_is_not(name, rate, size):
    found = biases(name, rate, size)
    plain, ours = found["batch AP"], found["SOPRC"]
    sign = 1 if rate < population(name).prior else -1
    assert sign * plain.bias > 3 * plain.estimate.standard_error
    assert abs(ours.bias) <= abs(plain.bias) / 5 + 3 * ours.estimate.standard_error


@pytest.mark.parametrize("name", SIMULATIONS)
def test_no_estimator_is_biased_where_the_rate_is_the_prior(name):
    for row in biases(name, 0.1, 2000).values():
        assert abs(row.bias) <= 0.01 + 3 * row.estimate.standard_error


def test_the_prior_alone_leaves_a_bias_that_v_takes_away():
    found = biases("binormal", 0.01, 2000)
    assert abs(found["SOPRC"].bias) < abs(found["prior only"].bias)
    assert found["SOPRC"].spread < found["prior only"].spread


def test_estimators_without_memory_are_the_metrics():
    rng = np.random.default_rng(0)
    scores = population("bibeta").draw(3, 10, 50, rng)
    target = (torch.arange(60) < 10).expand(3, -1)
    lists = split_lists(scores, target)
    exact = average_precision(scores, target, average="none")
    torch.testing.assert_close(batch_ap(0.1, 3).risk(lists), 1 - exact)
    exact = auprc(scores, target, prior=0.1, average="none")
    torch.testing.assert_close(prior_only(0.1, 3).risk(lists), 1 - exact)


def test_soprc_with_the_true_quantiles_is_the_metric_of_the_population():
    few = Population(torch.linspace(0, 2, 200).double(), torch.linspace(-1, 1, 1800).double())
    lists = split_lists(torch.cat([few.positives, few.negatives]), torch.arange(2000) < 200)
    estimate, _ = soprc(few.prior, 1).risk(replace(lists, remembered=few.positives.unsqueeze(0)))
    assert float(estimate) == pytest.approx(few.risk, abs=0.01)  # M + 1 in place of M


def test_same_seed_same_numbers_and_uneven_draws_are_rounded_up():
    def run() -> list[Bias]:
        return estimator_bias(
            population("bibeta"), rate=0.1, size=100, draws=7, chains=3, burn_in=2, seed=1
        )

    assert run() == run()
    assert {row.draws for row in run()} == {9}


@pytest.mark.parametrize(
    ("given", "message"),
    [({"rate": 0.0}, "^rate must"), ({"draws": 0}, "^draws must"), ({"size": 0}, "^size must")],
)
def test_errors_name_the_argument(given, message):
    with pytest.raises(ValueError, match=message):
        estimator_bias(population("bibeta"), **({"rate": 0.1, "size": 100, "draws": 2} | given))
