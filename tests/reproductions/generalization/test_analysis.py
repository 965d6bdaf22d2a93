"""Slopes of values that are made up, and the rates they are compared with."""

from __future__ import annotations

import math

import pytest
from tests.reproductions.generalization.made_up import measured, plan

from rankwise.theory import Mean, StableAPBounds
from reproductions.generalization.analysis import (
    BOUNDS,
    DELTA,
    against_plain_ap,
    bounded,
    examples_needed,
    predicted,
    sign,
    slope,
)
from reproductions.generalization.plan import AXES
from reproductions.generalization.problems import Gaussian

NAME = Gaussian().name


def test_a_mean_that_is_not_positive_has_no_slope():
    values = measured(lambda loss, size: 0.1 - size)
    found = slope(values, NAME, "lists", "AUC", "expected gap")
    assert found is not None
    assert math.isnan(found.value)


@pytest.mark.parametrize("axis", AXES)
def test_slopes_are_those_of_the_rule(axis):
    found = slope(measured(), NAME, axis, "AUC", "expected gap")
    assert found is not None
    assert found.value == pytest.approx(-1)
    assert found.n == plan().repeats
    assert slope(measured(), "a small table", axis, "AUC", "excess risk") is None


def test_rates_by_hand():
    rates = predicted(plan(), "lists", 10)
    assert (rates.fast, rates.slow) == pytest.approx((-1, -0.5))
    assert rates.middle == pytest.approx(-2 / 3)
    assert math.isnan(rates.pap)
    # One list of 10 or 40 positives and 20 negatives.
    rates = predicted(plan(), "positives", 10)
    assert rates.fast == pytest.approx(math.log((1 / 40 + 1 / 20) / (1 / 10 + 1 / 20), 4))
    assert rates.slow == pytest.approx(rates.fast / 2)


def test_bounds_are_those_of_the_theory_at_the_counts_of_the_cell():
    found = bounded(measured())
    assert [(b.axis, b.n_positives, b.n_negatives) for b in found] == [
        ("positives", 10, 20), ("positives", 40, 20), ("negatives", 20, 10), ("negatives", 20, 40),
    ]  # fmt: skip
    assert StableAPBounds(0.2, tau=0.5, width=2.0, epsilon=0.1) == BOUNDS
    first = found[0]
    assert first.lemma_9 == BOUNDS.uniform_gap(10, 20, 0.3, DELTA)
    assert first.theorem_2 == BOUNDS.risk(0.2, 10, 20, 0.3, DELTA)
    assert first.gap.value == pytest.approx(0.1)  # 1/size
    assert first.held == 2


def test_the_deviation_reaches_the_range_at_that_many_examples():
    n = examples_needed()
    assert BOUNDS.uniform_gap(round(n), round(n), 0.0, DELTA) == pytest.approx(
        BOUNDS.range, rel=1e-6
    )


def test_pairs_are_differences_on_the_same_samples():
    found = against_plain_ap(measured(), ["StableAP"])
    assert {each.loss for each in found} == {"StableAP"}
    assert all(each.gap.value == pytest.approx(-0.1) for each in found)
    assert all(each.test.value == pytest.approx(-0.1) for each in found)


@pytest.mark.parametrize(
    ("value", "error", "expected"),
    [(1.0, 0.01, 1), (-1.0, 0.01, -1), (0.1, 1.0, 0), (1, math.nan, 0)],
)
def test_a_sign_needs_more_than_the_interval(value, error, expected):
    assert sign(Mean(value, error, 10)) == expected
