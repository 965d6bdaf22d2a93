from __future__ import annotations

import pytest
import torch
from tests.pairs.logsumexp.cases import assert_nothing_comes_of_no_weight, assert_slopes_agree

from rankwise.pairs._logsumexp.two_sided_squares import log_sum_exp_of_two_sided_squares


def lists(spread=1.0, where=0.5, rows=2, uppers=150, lowers=120):
    torch.manual_seed(0)
    v = torch.rand(rows, lowers, dtype=torch.float64) * spread
    v[:, 0] = 0
    t = torch.randn(rows, uppers, dtype=torch.float64) * max(spread, 1) + where * spread
    return t, v, torch.rand(rows, lowers, dtype=torch.float64)


def brute(t, v, weight):
    square = (t.unsqueeze(-1) - v.unsqueeze(-2)) ** 2
    return torch.logsumexp(square + weight.log().unsqueeze(-2), -1)


@pytest.mark.parametrize(
    "where", [-9.0, 0.0, 0.5, 1.0, 9.0]
)  # all at one end, at both, at the other
@pytest.mark.parametrize("spread", [0.0, 1e-3, 0.3, 1.0, 3.0, 10.0, 100.0, 1e4, 1e7])
def test_value_and_gradients_are_those_of_the_pairs(spread, where):
    inputs = [x.requires_grad_() for x in lists(spread, where)]
    fast, slow = log_sum_exp_of_two_sided_squares(*inputs), brute(*inputs)
    torch.testing.assert_close(fast, slow, rtol=1e-11, atol=1e-11)
    assert_slopes_agree(fast, slow, inputs, digits=1e-10)


def test_gradcheck():
    t, v, weight = lists(2.0, uppers=5, lowers=4)
    inputs = [x.requires_grad_() for x in (t, v + 0.01, weight)]  # room for a small step
    assert torch.autograd.gradcheck(log_sum_exp_of_two_sided_squares, inputs)


def test_a_list_without_weight_has_no_value_and_no_gradient():
    assert_nothing_comes_of_no_weight(log_sum_exp_of_two_sided_squares, *lists())


def test_no_more_than_so_many_entries():
    t, v, weight = lists()
    assert log_sum_exp_of_two_sided_squares(t, v, weight, at_most=100) is None


def test_the_largest_scores_of_all_stay_finite():
    t = torch.tensor([[-1e120, 1.0, 1e120]], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([[0.0, 1e100, 1e120]], dtype=torch.float64, requires_grad=True)
    total = log_sum_exp_of_two_sided_squares(t, v, torch.ones_like(v))
    torch.testing.assert_close(total.sqrt()[0] / 1e120, torch.tensor([2.0, 1.0, 1.0]).double())
    for slope in torch.autograd.grad(total.sum(), (t, v)):
        assert torch.isfinite(slope).all()


def test_the_error_is_below_what_the_docs_say():
    """Every distance from the end at every steepness: what is left beside the largest term."""
    v = torch.logspace(-6, 1, 300, dtype=torch.float64).unsqueeze(-1)
    v = torch.cat([v, torch.full_like(v, 12.0)], -1)  # a lower at the other end, of no weight
    t = (6 + torch.logspace(-6, 4, 300, dtype=torch.float64)).expand(len(v), -1)
    total = log_sum_exp_of_two_sided_squares(t, v, torch.tensor([1.0, 0.0]).double().expand_as(v))
    left = torch.exp(-v[:, :1] * (2 * t - v[:, :1]))
    digits = 1e-12 + left * t**2 * 1e-15  # t² has lost some itself
    assert ((torch.exp(total - t**2) - left).nan_to_num().abs() < digits).all()
