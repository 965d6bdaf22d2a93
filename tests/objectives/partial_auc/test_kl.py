"""The KL form: its limits, its bound of CVaR, the temperature that is chosen, and its digits."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.objectives.rows.partial_auc import mean_of_largest

from rankwise.lists import split_lists
from rankwise.objectives.partial_auc._kl import KLOverNegatives, KLOverPositives, temperature_for
from rankwise.pairs import Hinge, Logistic, SquaredHinge

SURROGATES = [Hinge(1.0), SquaredHinge(1.0), Logistic(1.0)]


def random_lists(seed=0, n=50, dtype=torch.float64, scale=1.0):
    rng = torch.Generator().manual_seed(seed)
    scores = scale * torch.randn(2, n, dtype=torch.float64, generator=rng)
    target = torch.rand(2, n, generator=rng) < 0.3
    target[:, :2] = torch.tensor([True, False])
    return split_lists(scores.to(dtype), target)


def losses_of(surrogate, lists, row):
    positives, negatives = (
        scores[row][weight[row] > 0]
        for scores, weight in (
            (lists.positives, lists.positive_weight),
            (lists.negatives, lists.negative_weight),
        )
    )
    return surrogate.value(positives[:, None] - negatives)


@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
def test_from_the_largest_loss_to_the_mean(surrogate):
    lists = random_lists()
    low, high = (KLOverNegatives(surrogate, t, None, 0.9)(lists)[0] for t in (1e-4, 1e6))
    for row in range(2):
        losses = losses_of(surrogate, lists, row)
        here = slice(len(losses))
        torch.testing.assert_close(low[row, here], losses.amax(1), rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(high[row, here], losses.mean(1), rtol=1e-3, atol=1e-4)


@given(seed=st.integers(0, 100), log_t=st.floats(-2, 2), level=st.floats(0.03, 1))
@settings(max_examples=30)
def test_with_the_logarithm_of_the_share_it_bounds_cvar(seed, log_t, level):
    """CVaR_β ≤ τ log mean e^{ℓ/τ} + τ log 1/β for every τ (the entropic value at risk)."""
    lists, temperature = random_lists(seed), 10**log_t
    value = KLOverNegatives(Hinge(1.0), temperature, None, 0.9)(lists)[0]
    for row in range(2):
        losses = losses_of(Hinge(1.0), lists, row)
        bound = value[row, : len(losses)] + temperature * math.log(1 / level)
        assert (bound > mean_of_largest(losses, level * losses.shape[1]) - 1e-9).all()


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_the_temperature_spreads_the_weights_over_the_share(share):
    """KL from equal weights is log 1/share, for normal losses with spread 1."""
    losses = torch.linspace(-12, 16, 10**4, dtype=torch.float64)
    law = torch.softmax(-(losses**2) / 2, 0)
    weights = torch.softmax(law.log() + losses / temperature_for("temperature", None, share), 0)
    divergence = (weights * (weights / law).log()).sum()
    assert divergence.item() == pytest.approx(math.log(1 / share), rel=1e-6)


def test_a_given_temperature_is_kept_and_an_infinite_one_is_refused():
    assert temperature_for("temperature", 0.7, 1.0) == 0.7
    with pytest.raises(ValueError, match="temperature must be given"):
        temperature_for("temperature", None, 1.0)
    with pytest.raises(ValueError, match="temperature must be a finite number > 0"):
        temperature_for("temperature", -1.0, 0.1)


def test_a_high_temperature_loses_no_digits_in_single_precision():
    lists = random_lists(n=400, dtype=torch.float32)
    value = KLOverNegatives(Hinge(1.0), 1e4, None, 0.9)(lists)[0]
    values = KLOverPositives(1e4, None)(value, lists)[0]
    losses = losses_of(Hinge(1.0), lists, 0).double()
    mean = 1e4 * (losses / 1e4).exp().mean(1).log()
    torch.testing.assert_close(value[0, : len(mean)].double(), mean, rtol=1e-6, atol=1e-6)
    outer = 1e4 * (mean / 1e4).exp().mean().log()
    torch.testing.assert_close(values[0].double(), outer, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("surrogate", SURROGATES[:2], ids=str)
@pytest.mark.parametrize("temperature", [1e-3, 1.0, 1e3])
def test_huge_scores_and_small_temperatures_are_finite(dtype, surrogate, temperature):
    scores = torch.tensor([[1e4, -1e4, 5.0, 0.0, 1e4, -1e4, 1e-3]], dtype=dtype)
    scores.requires_grad_()
    lists = split_lists(scores, torch.tensor([[1, 1, 1, 0, 0, 0, 0]]))
    values = KLOverNegatives(surrogate, temperature, None, 0.9)(lists)[0]
    total = KLOverPositives(temperature, None)(values, lists)[0].sum()
    (gradient,) = torch.autograd.grad(total, scores)
    assert torch.isfinite(values).all()
    assert torch.isfinite(gradient).all()
    if temperature == 1e-3:  # all but the worst pair are gone
        worst = surrogate.value(torch.tensor(-2e4 if dtype != torch.bfloat16 else 2 * -9984.0))
        torch.testing.assert_close(total.float(), worst, rtol=1e-3, atol=0)


def test_weights_count_items_twice_in_both_means():
    torch.manual_seed(0)
    scores = torch.randn(1, 8, dtype=torch.float64)
    target = torch.tensor([[1, 1, 0, 0, 0, 1, 0, 0]])
    weight = torch.tensor([[1, 2, 1, 3, 0, 1, 1, 1]])
    twice = weight[0]
    weighted = split_lists(scores, target, weight=weight.double())
    repeated = split_lists(scores.repeat_interleave(twice, 1), target.repeat_interleave(twice, 1))
    for lists in (weighted, repeated):
        inner = KLOverNegatives(SquaredHinge(1.0), 0.5, None, 0.9)(lists)[0]
        value = KLOverPositives(0.3, None)(inner, lists)[0]
        losses = losses_of(SquaredHinge(1.0), repeated, 0)
        mean = 0.5 * (losses / 0.5).exp().mean(1).log()
        torch.testing.assert_close(value[0], 0.3 * (mean / 0.3).exp().mean().log())
