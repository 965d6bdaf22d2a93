"""Hierarchical average precision against its formula, item by item in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import metrics as m

LIST = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=2, max_size=15).filter(
    lambda items: any(y for _, y in items)
)


def by_formula(scores, relevances):
    """1/Σ y_k · Σ_k Σ_{j: s_j ≥ s_k} min(y_j, y_k)/#{j: s_j ≥ s_k}."""
    total = Fraction(0)
    for s, y in zip(scores, relevances, strict=True):
        above = [other for t, other in zip(scores, relevances, strict=True) if t >= s]
        total += Fraction(sum(min(other, y) for other in above), len(above))
    return total / sum(relevances)


@given(items=LIST)
@settings(max_examples=60)
def test_it_is_the_formula_whatever_the_order_of_ties(items):
    scores, relevances = zip(*items, strict=True)
    found = m.hierarchical_ap(np.array(scores, dtype=float), np.array(relevances))
    assert found == pytest.approx(float(by_formula(scores, relevances)), rel=1e-12)


@given(items=LIST)
@settings(max_examples=30)
def test_ties_against_put_the_less_relevant_first(items):
    scores, relevances = zip(*items, strict=True)
    strict = [s - 0.1 * y for s, y in items]  # the lower relevance first, equal ones tied
    found = m.hierarchical_ap(np.array(scores, dtype=float), np.array(relevances), ties="against")
    assert found == pytest.approx(float(by_formula(strict, relevances)), rel=1e-12)


def test_of_two_classes_it_is_average_precision():
    rng = np.random.default_rng(0)
    scores, target = rng.standard_normal((20, 50)).round(1), rng.random((20, 50)) < 0.3
    found = m.hierarchical_ap(scores, target, average="none")
    np.testing.assert_allclose(found, m.average_precision(scores, target, average="none"))


def test_an_error_costs_by_its_distance():
    """The ranking with the sister class in front is better than the one with a stranger there."""
    scores, near, far = np.array([0.9, 0.8, 0.7]), [0.5, 1, 0], [0, 1, 0.5]
    assert m.hierarchical_ap(scores, np.array(near)) == pytest.approx((0.5 + 1.5 / 2) / 1.5)
    assert m.hierarchical_ap(scores, np.array(far)) == pytest.approx((1 / 2 + 1 / 3) / 1.5)
    assert m.hierarchical_ap(-scores, np.array([0, 0.5, 1])) == pytest.approx(1)


def test_fractions_of_relevance_and_many_levels_of_a_long_list():
    rng = np.random.default_rng(1)
    scores, relevance = rng.standard_normal(400).round(2), rng.random(400)
    relevance[rng.random(400) < 0.5] = 0
    above = scores[None] >= scores[:, None]
    gained = (np.minimum(relevance[None], relevance[:, None]) * above).sum(1)
    expected = (gained / above.sum(1)).sum() / relevance.sum()
    assert m.hierarchical_ap(scores, relevance) == pytest.approx(expected, rel=1e-12)


def test_a_list_without_relevant_items_has_no_value():
    with pytest.warns(RuntimeWarning, match="1 of 2 lists have no relevant item"):
        value = m.hierarchical_ap(torch.rand(2, 3), torch.tensor([[0, 0, 0], [2, 2, 2]]))
    assert value == 1
