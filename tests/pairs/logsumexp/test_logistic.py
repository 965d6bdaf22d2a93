from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from tests.pairs.logsumexp.cases import assert_nothing_comes_of_no_weight, assert_slopes_agree

from rankwise.pairs._logsumexp.logistic import SMALLEST_POWER, log_sum_exp_of_logistic


def lists(spread=1.0, rows=2, uppers=150, lowers=120):
    torch.manual_seed(0)
    v = torch.rand(rows, lowers, dtype=torch.float64) * spread
    v[:, 0] = 0
    t = torch.randn(rows, uppers, dtype=torch.float64) * spread
    return t, v, torch.rand(rows, lowers, dtype=torch.float64)


def brute(t, v, weight, power):
    exponent = -power * torch.nn.functional.logsigmoid(v.unsqueeze(-2) - t.unsqueeze(-1))
    return torch.logsumexp(exponent + weight.log().unsqueeze(-2), -1)


@pytest.mark.parametrize("spread", [0.0, 0.01, 1.0, 10.0, 100.0, 1e4])
@pytest.mark.parametrize("power", [SMALLEST_POWER, 0.5, 1.0, 1.5, 2.0, 10.0, 33.3, 1e3, 1e6])
def test_value_and_gradients_are_those_of_the_pairs(power, spread):
    inputs = [x.requires_grad_() for x in lists(spread)]
    fast, slow = log_sum_exp_of_logistic(*inputs, power), brute(*inputs, power)
    torch.testing.assert_close(fast, slow, rtol=1e-11, atol=1e-9)
    assert_slopes_agree(fast, slow, inputs)


def test_a_slope_that_is_next_to_nothing_keeps_its_digits():
    """Uppers far above all lowers: σ(t) is a factor, not a sum of what cancels."""
    t = torch.tensor([[-50.0, -100.0, -300.0]], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([[0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    total = log_sum_exp_of_logistic(t, v, torch.ones_like(v), 2.0)
    (to_t,) = torch.autograd.grad(total.sum(), t)
    share = 1 + torch.exp(torch.tensor(-1.0).double())  # Σ e^{−v}, of two terms that are 1
    torch.testing.assert_close(to_t, t.detach().exp() * share, rtol=1e-11, atol=0)


@pytest.mark.parametrize("power", [0.3, 3.0])
def test_gradcheck(power):
    t, v, weight = lists(2.0, uppers=5, lowers=4)
    inputs = [x.requires_grad_() for x in (t, v + 0.01, weight)]  # room for a small step
    assert torch.autograd.gradcheck(lambda *x: log_sum_exp_of_logistic(*x, power), inputs)


def test_a_list_without_weight_has_no_value_and_no_gradient():
    assert_nothing_comes_of_no_weight(partial(log_sum_exp_of_logistic, power=2.0), *lists())


def test_no_more_than_so_many_entries():
    assert log_sum_exp_of_logistic(*lists(), 1.0, at_most=100) is None


@pytest.mark.parametrize("power", [SMALLEST_POWER, 0.3, 1.0, 1.7, 3.0, 8.0, 50.0, 990.0, 1e4, 1e6])
def test_the_error_is_below_what_the_docs_say(power):
    """Every distance at every level, a list for each: (…)^p beside 1, its largest value."""
    reach = 50 / power + 40
    v = torch.logspace(-9, math.log10(reach), 700, dtype=torch.float64).unsqueeze(-1)
    t = torch.linspace(-30, min(reach, 60), 300, dtype=torch.float64).expand(len(v), -1)
    total = log_sum_exp_of_logistic(t, v, torch.ones_like(v), power)
    logsigmoid = torch.nn.functional.logsigmoid
    found = torch.exp(total + power * logsigmoid(-t))
    q, y = torch.sigmoid(t), torch.exp(-v)
    taken = q * -torch.expm1(-v)
    left = torch.where(taken < 0.5, torch.log1p(-taken), (torch.sigmoid(-t) + q * y).log())
    exact = torch.exp(power * left)
    digits = 1e-12 + exact * power * t.clamp_min(1) * 3e-16  # the largest term has lost some itself
    assert ((found - exact).nan_to_num().abs() < digits).all()
