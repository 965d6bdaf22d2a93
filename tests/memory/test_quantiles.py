"""φ of SOPRC's Algorithm 2 against the formula item by item, and what Proposition 3 says of it."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankwise.memory import interpolate_quantiles


def by_hand(values: list[float], points: int, low=-math.inf, high=math.inf) -> list[float]:
    u, n = sorted(values), len(values)
    if n == 1:
        return u * points
    padded = [max(2 * u[0] - u[1], low), *u, min(2 * u[-1] - u[-2], high)]
    result = []
    for j in range(1, points + 1):
        p = (j - 0.5) / points
        i = math.floor(n * p) + 1
        a = n * p - i + 1
        chord = [(1 - a) * padded[k - 1] + a * padded[k] for k in (i, i + 1)]
        result.append((chord[0] + chord[1]) / 2)
    return result


SCORES = st.lists(st.integers(-50, 50).map(lambda n: n / 8), min_size=1, max_size=12)


@given(values=SCORES, points=st.integers(1, 30), weighted=st.booleans())
def test_equals_the_formula(values, points, weighted):
    scores = torch.tensor([values], dtype=torch.float64)
    found = interpolate_quantiles(scores, torch.ones_like(scores) if weighted else None, points)
    assert found[0].tolist() == pytest.approx(by_hand(values, points))


@given(values=SCORES, points=st.integers(2, 30))
def test_preserves_order(values, points):
    scores = torch.tensor([values], dtype=torch.float64)
    found = interpolate_quantiles(scores, torch.ones_like(scores), points)
    assert (found.diff() >= -1e-9).all()


@pytest.mark.parametrize("n", [2, 7, 50])
@pytest.mark.parametrize("points", [5, 100])
def test_exact_for_linear_quantile_functions(n, points):
    p = (torch.arange(n, dtype=torch.float64) + 0.5) / n
    scores = (3 + 2 * p).unsqueeze(0)
    found = interpolate_quantiles(scores, torch.ones_like(scores), points)
    expected = 3 + 2 * (torch.arange(points, dtype=torch.float64) + 0.5) / points
    torch.testing.assert_close(found[0], expected)


def test_ends_stay_inside_the_range_of_scores():
    scores = torch.tensor([[-0.9, 0.0, 0.95]], dtype=torch.float64)
    found = interpolate_quantiles(scores, torch.ones_like(scores), 50, low=-1.0, high=1.0)
    assert found[0].tolist() == pytest.approx(by_hand([-0.9, 0.0, 0.95], 50, -1.0, 1.0))
    assert found.min() >= -1
    assert found.max() <= 1


def test_padding_is_absent_and_weight_two_is_twice():
    scores = torch.tensor([[5.0, 1.0, 3.0, 99.0], [2.0, 2.0, 2.0, 2.0]], dtype=torch.float64)
    weight = torch.tensor([[1.0, 2.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    found = interpolate_quantiles(scores, weight, 9)
    assert found[0].tolist() == pytest.approx(by_hand([5.0, 1.0, 1.0, 3.0], 9))
    assert found[1].tolist() == [2] * 9


def test_weights_below_one_half():
    scores = torch.tensor([[1.0, 9.0], [1.0, 2.0]])
    found = interpolate_quantiles(scores, torch.tensor([[0.3, 0.0], [0.2, 0.2]]), 3)
    assert found[0].tolist() == [1] * 3
    assert torch.isfinite(found).all()


@given(values=SCORES, points=st.integers(1, 30), bounds=st.sampled_from([math.inf, 3.0]))
def test_an_absent_item_changes_nothing(values, points, bounds):
    """Rows without weights are worked another way."""
    whole = torch.tensor([values, values[::-1]])
    padded = torch.cat([whole, torch.full((2, 1), 99.0)], dim=-1)
    weight = torch.ones_like(padded)
    weight[:, -1] = 0
    expected = interpolate_quantiles(padded, weight, points, low=-bounds, high=bounds)
    for ones in (torch.ones_like(whole), None):
        found = interpolate_quantiles(whole, ones, points, low=-bounds, high=bounds)
        torch.testing.assert_close(found, expected)
        assert interpolate_quantiles(whole.half(), ones, points).dtype == torch.float32


@pytest.mark.parametrize("weight", [None, torch.tensor([[3.0]])])
def test_quantiles_of_equal_huge_scores_are_that_score(weight):
    score = torch.tensor([[944_063_872.0]])  # whose neighbors in float32 are 64 away
    scores = score if weight is not None else score.expand(1, 3)
    assert interpolate_quantiles(scores, weight, 100).tolist() == [[score.item()] * 100]
