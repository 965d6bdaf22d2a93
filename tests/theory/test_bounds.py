"""Bounds of the papers by hand-worked numbers."""

from __future__ import annotations

import math

import pytest

from rankwise.theory import (
    RiskBound,
    StableAPBounds,
    excess_risk_rate,
    pap_gap_rate,
    stability_gap_bound,
)

# π = .2, τ = .5, scores in [−1, 1], a = .1, t = 2, ε = .1.
BOUNDS = StableAPBounds(0.2, tau=0.5)


def test_stability_gap_by_hand():
    assert stability_gap_bound(1.5, 0.02, 0.01, 4, 10) == pytest.approx(1.5 * (0.08 + 0.1))


@pytest.mark.parametrize(
    ("lam", "expected"),
    [
        (1.0, 8 ** (4 / 3) * 1000 ** (-2 / 3) + 27 ** (4 / 3) * 64000 ** (-2 / 3)),
        (0.5, 8**1.25 * 1000**-0.75 + 27**1.25 * 64000**-0.75),
    ],
)
def test_excess_risk_rate_by_hand(lam, expected):
    assert excess_risk_rate(1000, 64000, 8, 27, lam) == pytest.approx(expected)


@pytest.mark.parametrize(("lam", "exponent"), [(1e-9, -1.0), (1.0, -2 / 3), (1e9, -0.5)])
def test_the_rate_in_the_size_goes_from_one_to_a_half(lam, exponent):
    few, many = (excess_risk_rate(n, n, 5, 5, lam) for n in (1000, 10_000))
    assert math.log10(many / few) == pytest.approx(exponent, abs=1e-6)


def test_pap_rate_by_hand():
    # d = 3, δ = .05: ln 100 = 4.60517, ln 400 = 5.99146, ln 20 = 2.99573.
    positive = math.sqrt((3 * 4.60517 + 2.99573) / 100)
    negative = math.sqrt((3 * 5.99146 + 2.99573) / 400)
    found = pap_gap_rate(100, 400, 0.1, 0.5, dimension=3)
    assert found == pytest.approx(positive / 0.5 + negative / 0.1, rel=1e-5)


def test_constants_of_stable_ap_by_hand():
    assert BOUNDS.ratio == pytest.approx(4)
    assert BOUNDS.loss_bound == pytest.approx(9)  # 1 + 2 · 2/.5
    assert BOUNDS.weight_bound == pytest.approx(121)
    assert BOUNDS.loss_slope == 4
    # t(1+a)^t/a^(t+1) = 2 · 1.21/.001 in r, times φ_ℓ/B_ℓ = 4/9.
    assert BOUNDS.weight_slope == pytest.approx(2420 * 4 / 9)
    assert BOUNDS.q == pytest.approx(math.pi / 2 + 2 * 37 / 73)
    assert BOUNDS.range == pytest.approx(math.sqrt(1.01) - 0.1)


def test_lemma_9_by_hand():
    # n⁺ = 100, n⁻ = 400, ρ = 4 as in the paper: (2 + 4 + 1/4)/(2 · 500) = 6.25/1000.
    deviation = 4 * 9 * 121 / 0.1 * math.sqrt(6.25 / 1000 * math.log(1 / 0.05))
    found = BOUNDS.uniform_gap(100, 400, complexity=0.5)
    assert found == pytest.approx(4 * 4 / 0.1 * 0.5 + deviation)


def test_theorem_2_by_hand():
    q = math.pi / 2 + 2 * 37 / 73
    found = BOUNDS.risk(0.3, 100, 400, 0.5, delta=0.1)
    assert found.empirical == pytest.approx(q**2 / 2 * 0.3)
    assert found.complexity == pytest.approx(2 * q**2 * 4 / 0.1 * 0.5)
    spread = math.sqrt(6.25 / 1000 * math.log(10))
    assert found.deviation == pytest.approx(q**2 * 4 * 121 * 9 / (2 * 0.1) * spread)
    assert found.total == pytest.approx(sum((found.empirical, found.complexity, found.deviation)))
    # Theorem 2 is (q/2) times q times Lemma 9.
    gap = BOUNDS.uniform_gap(100, 400, 0.5, delta=0.1)
    assert found.total - found.empirical == pytest.approx(q**2 / 2 * gap)


def test_theorem_5_and_lemma_10_by_hand():
    slope = 2 * 121 * 4 + 9 * (2420 * 4 / 9)
    spread = slope / 2 * math.sqrt(2 + 4 + 1 / 4)  # C₀
    entropy = math.sqrt(20 / 2 * math.log(81 * 500))
    expected = (slope + 12 * spread * 9 * entropy) / math.sqrt(500)
    assert BOUNDS.chaining(100, 400, 20) == pytest.approx(expected)
    expected = 121 * 9 * math.sqrt(2 * 6.25 / 500 * math.log(1 / 0.05))
    assert BOUNDS.complexity_deviation(100, 400, 0.05) == pytest.approx(expected)


def test_theorem_3_puts_them_together_with_half_the_probability_each():
    complexity = BOUNDS.chaining(100, 400, 20) + BOUNDS.complexity_deviation(100, 400, 0.05)
    whole = BOUNDS.risk_by_covering(0.3, 100, 400, 20, delta=0.1)
    assert whole == BOUNDS.risk(0.3, 100, 400, complexity, delta=0.05)


def test_terms_fall_as_one_over_the_root_of_n():
    few, many = (BOUNDS.risk(0.3, n, 4 * n, 0.0).deviation for n in (100, 10_000))
    assert many == pytest.approx(few / 10)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: StableAPBounds(1.5), "prior"),
        (lambda: StableAPBounds(0.5, tau=0.0), "tau"),
        (lambda: BOUNDS.uniform_gap(10, 10, 0.0, delta=0.0), "delta"),
        (lambda: pap_gap_rate(10, 10, 2.0, dimension=1), "rate"),
        (lambda: pap_gap_rate(10, 10, 0.5, dimension=1, delta=1.0), "delta"),
        (lambda: excess_risk_rate(10, 10, 1, 1, 0.0), "condition"),
        (lambda: stability_gap_bound(1.0, 0.1, 0.1, 0, 1), "batch_positives"),
    ],
)
def test_errors_name_the_argument(call, name):
    with pytest.raises(ValueError, match=name):
        call()


def test_a_bound_is_its_terms():
    assert RiskBound(1.0, 2.0, 3.0).total == 6.0
