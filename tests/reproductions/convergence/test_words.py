"""Verdicts and sentences from made-up numbers."""

from __future__ import annotations

import math

import pytest

from rankwise.theory import Mean
from reproductions.convergence.estimates import BIAS_LAW, DECAY, ERROR_LAW, LAWS, MEAN_LAW
from reproductions.convergence.fits import BIASED, BOUND, LAW, Fit, fits, jackknife
from reproductions.convergence.measure import work_of
from reproductions.convergence.plan import BATCH, Constants, Estimate, Measured, Plan, Row
from reproductions.convergence.problem import LOSSES
from reproductions.convergence.words import (
    best_words,
    compared_words,
    conclusions,
    floor_words,
    lemma_words,
)

PLAN = Plan(repeats=3)


def measured(power_4=-0.5, power_3=-1.0, noise=0.0, printed=0.0, limit=1.0):
    """What trainings with these exponents would leave behind."""
    rows = []
    for experiment, variant, x in work_of(PLAN):
        places = [float(t) for t in PLAN.horizons] if experiment == "T, SOPRC" else [x]
        power = {"T": power_4, "T, SOPRC": power_3}.get(experiment, 0.0)
        for place in places:
            for repeat in range(3):
                value = (1 + noise * (repeat - 1)) * (place**power if power else 1.0)
                excess = value + (printed if "printed" in variant and x == 0 else 0.0)
                limits = (math.nan, math.nan) if "SOPRC" in experiment else (limit, limit)
                values = (value, 0.004, excess, 0.5, 0.5, 1.0)
                rows.append(Row(experiment, variant, place, repeat, *values, *limits))
    kinds = {
        **{law: (PLAN.ema_rates, lambda x: x) for law in LAWS.values()},
        MEAN_LAW: ((1, 2, 4), lambda x: (1 - DECAY) ** x),
        ERROR_LAW: (PLAN.batches, lambda x: x**-0.5),
        BIAS_LAW: (PLAN.batches, lambda x: x**-1.0),
        **{f"{BIASED}, {n}": (PLAN.batches, lambda x: 0.002 * (BATCH / x) ** 2) for n in LOSSES},
    }
    still = [
        Estimate(claim, float(x), repeat, rule(x))
        for claim, (places, rule) in kinds.items()
        for x in places
        for repeat in range(3)
    ]
    constants = [Constants(r, 0.2, 0.0, 0.01, 1e-18, 0.01, 0.9, 0.8) for r in range(3)]
    return Measured(PLAN, constants, rows, still)


def test_the_exponents_are_found():
    found = fits(measured(power_4=-0.3, power_3=-1.25))
    theorem_4 = next(f for f in found if f.source == "StableAP, Theorem 4")
    assert theorem_4.slope.value == pytest.approx(-0.3)
    assert theorem_4.verdict == "does not agree: slower"
    printed = [f for f in found if f.variant == "η printed" and f.quantity == "excess risk"]
    assert [f.slope.value for f in printed] == [pytest.approx(-1.25)]
    assert printed[0].verdict == "agrees: faster than the bound"
    constant = [f for f in found if f.variant == "η constant"]
    assert {f.verdict for f in constant} == {"no prediction"}
    mean = next(f for f in found if f.quantity == MEAN_LAW)
    assert mean.slope.value == pytest.approx(math.log(1 - DECAY))


def test_a_slope_by_hand_and_its_interval():
    values = [(x, r, (r + 1) * x**-0.5) for x in (1.0, 4.0, 16.0) for r in range(3)]
    slope = jackknife(values)
    assert slope.value == pytest.approx(-0.5)
    assert slope.standard_error == pytest.approx(0.0, abs=1e-12)
    assert math.isnan(jackknife([(1.0, 0, -1.0), (2.0, 0, 1.0)]).value)


@pytest.mark.parametrize(
    ("value", "error", "kind", "verdict"),
    [
        (-0.7, 0.01, BOUND, "agrees: faster than the bound"),
        (-0.7, 0.01, LAW, "does not agree"),
        (-0.3, 0.01, BOUND, "does not agree: slower"),
        (-0.3, 0.5, BOUND, "agrees within the interval"),
        (math.nan, 0.5, BOUND, "not measured"),
    ],
)
def test_verdicts(value, error, kind, verdict):
    fit = Fit("paper", "value", "T", "all", Mean(value, error, 6), -0.5, kind)
    assert fit.verdict == verdict


def test_the_summary_names_what_does_not_agree():
    slow, fine = (measured(power_4=p) for p in (-0.2, -0.5))
    assert any("Theorem 4" in s and "slower" in s for s in conclusions(slow, fits(slow)))
    assert not any("Theorem 4" in s for s in conclusions(fine, fits(fine)))
    assert "-0.20" in " ".join(conclusions(slow, fits(slow)))


def test_the_floor_is_compared_with_the_bias():
    said = floor_words(measured())
    assert len(said) == 2
    assert "2.0 times" in said[0]  # 0.004 against 0.002
    assert "is above 0" in said[0]


def test_bounds_that_fail_are_counted():
    assert "none of" in lemma_words(measured())[0]
    assert "all" in lemma_words(measured(limit=0.1))[0]


def test_momentum_is_told_as_it_came_out():
    def rules(**found):
        said = compared_words(measured(**found), "s")
        return next(s for s in said if "Algorithm 1 as printed less" in s and "excess" in s)

    assert "+5.0e-01" in rules(printed=0.5)
    assert rules(printed=0.5).endswith("higher.")
    assert rules().endswith("level.")


def test_the_best_value_of_an_axis_is_named():
    (said,) = best_words(measured(power_4=-0.5), "T", ("gradient",))[:1]
    assert "smallest at 1600" in said
    assert "largest at 25" in said
