"""Exponents of distances that follow a rule."""

from __future__ import annotations

import math

import pytest
from tests.reproductions.list_stability.made_up import PLAN, measured

from rankwise.theory import Mean, loglog_slope
from reproductions.list_stability.fits import Fit, along, exponent, fits, jackknife
from reproductions.list_stability.lemma import limits


def test_the_exponents_of_the_rule_are_found():
    expected = {"T": 0.2, "n": 0.1, "N": -1.0}
    found = fits(measured())
    assert {(f.loss, f.axis) for f in found if f.loss != "SOPRC"} == {
        (loss, axis) for loss in ("StableAP", "plain AP", "cross-entropy") for axis in "TN"
    }
    assert len([f for f in found if f.loss == "SOPRC"]) == 2 * 2 * 2 * 3
    for fit in found:
        assert fit.slope.value == pytest.approx(expected[fit.axis])
        assert fit.slope.standard_error == pytest.approx(0, abs=1e-9)


def test_only_the_model_of_soprc_has_a_prediction():
    for fit in fits(measured()):
        predicted = fit.loss == "SOPRC" and fit.distance[0] == "ε"
        assert math.isnan(fit.predicted) is not predicted
        assert (fit.verdict == "–") is not predicted
        if predicted and fit.axis != "N":
            # λ = 10 C (1 + √(1 + 1/8 − 1/64))
            lam = 10 * fit.scale * (1 + math.sqrt(1 + 1 / 8 - 1 / 64))
            assert fit.predicted == pytest.approx(lam / (lam + 1))


@pytest.mark.parametrize(
    ("value", "error", "verdict"),
    [
        (0.2, 0.01, "below"),
        (0.48, 0.01, "equal within the interval"),
        (0.52, 0.01, "equal within the interval"),
        (0.7, 0.01, "above"),
        (math.nan, 0.01, "not measured"),
        (0.2, math.nan, "not measured"),
    ],
)
def test_the_verdict_has_the_interval_of_the_fit(value, error, verdict):
    assert Fit("SOPRC", 0.1, "ε⁺", "T", Mean(value, error, 3), 0.5).verdict == verdict


def test_the_jackknife_by_hand():
    rows = along(measured(noise=0.3), "SOPRC", 0.1, "positive", "T")
    found = jackknife(rows, "steps", "positive")
    values = {s: [r.positive for r in sorted(rows, key=lambda r: r.repeat) if r.steps == s]
              for s in (5, 20)}  # fmt: skip

    def slope(left):
        kept = [sum(v for k, v in enumerate(values[s]) if k != left) for s in (5, 20)]
        return loglog_slope((5, 20), kept)

    parts = [slope(left) for left in range(3)]
    center = sum(parts) / 3
    expected = math.sqrt(2 / 3 * sum((p - center) ** 2 for p in parts))
    assert (found.value, found.standard_error) == pytest.approx((slope(None), expected))
    assert expected > 0.1
    assert found.n == 3


def test_a_distance_of_zero_has_no_exponent():
    found = fits(measured(lambda steps, batch, total: 0.0 if steps == 5 else 1 / total))
    assert {f.verdict for f in found if f.axis == "T"} == {"–", "not measured"}


def test_a_larger_l_or_c_predicts_a_larger_exponent():
    values = measured()
    assert exponent(values, 0.1, 10.0) < exponent(values, 0.1, 40.0) < exponent(values, 1.0, 40.0)


def test_lemma_1_stands_beside_the_measured_distance():
    found = limits(measured())
    assert [(each.scale, each.steps) for each in found] == [
        (c, t) for c in PLAN.scales for t in PLAN.steps
    ]
    first = found[0]
    assert first.distance == pytest.approx(5**0.2 * 8**0.1 / 20)
    assert first.memory_distance == pytest.approx(2 * first.distance)
    assert first.way == 0.5
    assert all(each.bound > each.distance for each in found)
    assert found[-1].is_vacuous  # C·L = 10
