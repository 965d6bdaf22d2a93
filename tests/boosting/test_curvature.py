from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.boosting.curvature import CurvedSurrogate, curved, expected, floored
from rankwise.objectives import NDCG, AveragePrecision, PairwiseAUC, PApAtK
from rankwise.pairs import (
    Exponential,
    Logistic,
    OneSidedHuber,
    Sigmoid,
    Square,
    SquaredHinge,
    pair_curvature,
    pair_sum,
)

SURROGATES = [
    SquaredHinge(1.0),
    OneSidedHuber(0.5),
    Logistic(2.0),
    Sigmoid(1.5),
    Square(1.0),
    Exponential(),
]


@pytest.mark.parametrize("method", ["auto", "exponential", "dense"])
@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
def test_backward_pass_is_the_curvature(surrogate, method) -> None:
    generator = torch.Generator().manual_seed(1)
    upper, lower = (torch.randn(n, dtype=torch.float64, generator=generator) for n in (7, 9))
    g = torch.rand(7, dtype=torch.float64, generator=generator)
    weight = torch.rand(9, dtype=torch.float64, generator=generator)
    upper.requires_grad_()
    lower.requires_grad_()
    total = pair_sum(CurvedSurrogate(surrogate), upper, lower, weight=weight, method=method)
    above, below = torch.autograd.grad((g * total).sum(), [upper, lower])
    up, low = upper.detach(), lower.detach()
    torch.testing.assert_close(total, pair_sum(surrogate, up, low, weight=weight))
    torch.testing.assert_close(above, g * pair_curvature(surrogate, up, low, weight=weight))
    torch.testing.assert_close(-below, weight * pair_curvature(surrogate, -low, -up, weight=g))


def test_there_is_no_derivative_of_the_curvature() -> None:
    with pytest.raises(ValueError, match="order must be 0 or 1"):
        CurvedSurrogate(Square()).pieces(2)


def test_what_has_no_such_form_is_left_alone() -> None:
    assert curved(PApAtK(5)) is None  # a hinge
    assert curved(NDCG()) is None  # its items are on both sides
    original = AveragePrecision()
    twin = curved(original)
    assert isinstance(twin.false_positives, CurvedSurrogate)
    assert isinstance(original.false_positives, OneSidedHuber)
    assert curved(PairwiseAUC()) is not None


def test_expected_is_the_mean_over_rows_of_about_the_same_score() -> None:
    # The 20 highest are the first cell, the next 23 = 20 · 1.15 the second, 26 the third.
    scores, values = -np.arange(50.0), np.arange(50.0)
    found = expected(scores, values, None)
    np.testing.assert_allclose(found[:20], values[:20].mean())
    np.testing.assert_allclose(found[20:43], values[20:43].mean())
    np.testing.assert_allclose(found[43:], values[43:].mean())


def test_equal_scores_are_in_one_cell() -> None:
    values = np.random.default_rng(0).random(500)
    np.testing.assert_allclose(expected(np.full(500, 2.0), values, None), values.mean())


def test_an_item_of_weight_two_is_two() -> None:
    rng = np.random.default_rng(0)
    scores, values, mass = rng.normal(size=80), rng.random(80), rng.integers(1, 4, 80)
    times = np.repeat(np.arange(80), mass)
    once = expected(scores, values * mass, mass.astype(float))
    each = expected(scores[times], values[times], None)
    np.testing.assert_allclose((once / mass)[times], each)


def test_floor_is_above_zero() -> None:
    found = floored(np.array([0.0, 0, 3]), None, 0.1)
    np.testing.assert_allclose(found, [0.1, 0.1, 3])
    weighted = floored(np.array([0.0, 0, 6]), np.array([1.0, 0, 2]), 0.1)
    np.testing.assert_allclose(weighted, [0.2, 0, 6], atol=1e-12)
    assert (weighted > 0).all()
