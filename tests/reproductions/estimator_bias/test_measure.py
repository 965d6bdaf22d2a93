"""Verdicts on biases that are made up, and a small measurement against the theory itself."""

from __future__ import annotations

import math
from functools import cache

import pytest
from tests.reproductions.estimator_bias.made_up import TRUTH, bias, biases, usual

from rankwise.theory import (
    ESTIMATORS,
    SIMULATIONS,
    estimator_bias,
    interpolation_error,
    simulate,
)
from reproductions.estimator_bias.measure import (
    PRIOR,
    RATES,
    Measured,
    Plan,
    measure,
    verdicts,
)
from reproductions.frame import Setting

TINY = Plan(
    sizes=(500,), draws=20, chains=5, burn_in=2, population=5_000, counts=(20, 40), points=(10, 30)
)


@cache
def measured() -> Measured:
    return measure(TINY, Setting(seed=1))


def verdict(of=usual, **options):
    (found,) = verdicts({"law": biases(of, sizes=(500,), **options)})
    return found


def test_a_verdict_by_hand():
    found = verdict()
    assert (found.law, found.size, found.truth) == ("law", 500, TRUTH)
    assert found.batch_ap == pytest.approx((0.09, -0.1))  # at .01 and at .2
    assert found.largest == pytest.approx({"batch AP": 0.1, "prior only": 0.05, "SOPRC": 0.01})
    assert found.ratio == pytest.approx(0.1)
    assert found.signs
    assert found.holds == "yes"


def test_the_ratio_is_the_worst_over_the_rates_and_its_error_is_of_that_rate():
    def of(name, rate):
        return 0.02 if (name, rate) == ("SOPRC", 0.03) else usual(name, rate)

    rows = [
        bias(b.estimator, b.rate, 500, b.bias, 0.007 if b.estimator == "SOPRC" else 0.5)
        for b in biases(of, sizes=(500,))
    ]
    (found,) = verdicts({"law": rows})
    assert found.ratio == pytest.approx(0.02 / 0.07)
    assert found.error == pytest.approx(0.007 / 0.07)


@pytest.mark.parametrize(
    ("share", "error", "holds"),
    [
        (0.19, 0.001, "yes"),
        (-0.19, 0.001, "yes"),  # to the other side
        (0.21, 0.001, "open"),
        (0.21, 0.0001, "no"),
        (-0.5, 0.001, "no"),
    ],
)
def test_one_fifth_is_the_limit_and_noise_leaves_it_open(share, error, holds):
    def of(name, rate):
        return usual("batch AP", rate) * (share if name == "SOPRC" else 1)

    # The ratio is the same at every rate; biases from .07 to .1 make its error 10 to 14 times as
    # large as that of an estimate.
    assert verdict(of, error=error).holds == holds


@pytest.mark.parametrize("rate", [r for r in RATES if r != PRIOR])
def test_one_rate_with_the_other_sign_refutes(rate):
    def of(name, at):
        return -usual(name, at) if (name, at) == ("batch AP", rate) else usual(name, at)

    found = verdict(of)
    assert not found.signs
    assert found.holds == "no"


@pytest.mark.parametrize("rate", [min(RATES), max(RATES)])
def test_no_bias_at_all_of_batch_ap_refutes_and_can_be_told(rate):
    def of(name, at):
        return 0.0 if (name, at) == ("batch AP", rate) else usual(name, at)

    found = verdict(of)
    assert found.ratio == math.inf
    assert not found.signs
    assert found.holds == "no"


def test_at_the_prior_itself_nothing_is_asked():
    def of(name, rate):
        return 0.3 if rate == PRIOR else usual(name, rate)

    assert verdict(of) == verdict()


def test_the_estimate_with_the_prior_only_decides_nothing():
    def of(name, rate):
        return 0.3 if name == "prior only" else usual(name, rate)

    found = verdict(of)
    assert found.holds == "yes"
    assert found.largest["prior only"] == pytest.approx(0.3)


def test_every_law_and_size_has_its_verdict():
    worse = [bias(b.estimator, b.rate, 200, 2 * b.bias) for b in biases(sizes=(500,))]
    found = verdicts({"one": biases(sizes=(500, 200)), "two": biases(sizes=(500,)) + worse})
    assert [(v.law, v.size) for v in found] == [
        ("one", 200), ("one", 500), ("two", 200), ("two", 500),
    ]  # fmt: skip
    assert found[2].batch_ap == pytest.approx((0.18, -0.2))
    assert found[3].batch_ap == pytest.approx((0.09, -0.1))


def test_every_law_rate_and_estimator_is_measured():
    found = measured()
    for name in SIMULATIONS:
        places = [(b.rate, b.estimator) for b in found.biases[name]]
        assert places == [(rate, estimator) for rate in RATES for estimator in ESTIMATORS]
        assert {b.size for b in found.biases[name]} == {500}
        assert {b.draws for b in found.biases[name]} == {20}
        assert found.populations[name].prior == pytest.approx(PRIOR)
        assert [(e.n, e.points) for e in found.by_count[name]] == [(20, 30), (40, 30)]
        assert [(e.n, e.points) for e in found.by_points[name]] == [(100, 10), (100, 30)]


def test_a_part_is_what_the_theory_measures_by_itself():
    found = measured()
    number, name = 1, list(SIMULATIONS)[1]
    population = simulate(name, size=5_000, prior=PRIOR, seed=1 + number)
    own = estimator_bias(
        population, rate=RATES[2], size=500, draws=20, chains=5, burn_in=2,
        seed=1 + 1000 + number * len(RATES) + 2,
    )  # fmt: skip
    assert found.biases[name][6:9] == own
    law = SIMULATIONS[name][0]
    assert found.by_count[name][1] == interpolation_error(law, 40, points=30, seed=1)


def test_batches_with_fewer_positives_have_the_larger_loss():
    for rows in measured().biases.values():
        plain = {b.rate: b.bias for b in rows if b.estimator == "batch AP"}
        ours = {b.rate: b.bias for b in rows if b.estimator == "SOPRC"}
        assert plain[0.01] > 0.05
        assert plain[0.2] < -0.02
        assert abs(ours[0.01]) < plain[0.01]
        assert {b.truth for b in rows} == {rows[0].truth}


def test_how_far_it_is_can_be_seen():
    seen = []

    def track(work, doing):
        seen.append((doing, len(work)))
        return work

    measure(TINY, Setting(track=track))
    assert seen == [("drawing batches", 3 * len(RATES))]
