from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from tests.pairs.cases import DIFFERENTIABLE, SURROGATES, brute, pair_lists

from rankwise.pairs import (
    Exponential,
    Hinge,
    Linear,
    Logistic,
    Square,
    SquaredHinge,
    pair_logsumexp,
    pair_sum,
    sums,
)
from rankwise.pairs._small_batch import SmallBatchLogSumExp, small_batch_sum
from rankwise.pairs.rows import Rows


@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
@given(lists=pair_lists())
@settings(max_examples=40)
def test_equals_the_definition(surrogate, lists):
    upper, lower, weight = (t.reshape(math.prod(t.shape[:-1]), t.shape[-1]) for t in lists)
    total = small_batch_sum(surrogate, *Rows(upper, lower, weight).own())
    torch.testing.assert_close(total, brute(surrogate, upper, lower, weight))
    total = small_batch_sum(surrogate, *Rows(upper, lower, None).own())
    torch.testing.assert_close(total, brute(surrogate, upper, lower))


@pytest.mark.parametrize("surrogate", DIFFERENTIABLE, ids=str)
@pytest.mark.parametrize("wanted", [(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_gradients_of_what_wants_one(surrogate, wanted):
    torch.manual_seed(0)
    upper, lower, weight = (torch.randn(2, n, dtype=torch.float64) for n in (4, 7, 7))
    inputs = [
        t.requires_grad_(bool(w)) for t, w in zip((upper, lower, weight), wanted, strict=True)
    ]
    assert torch.autograd.gradcheck(
        lambda u, l, w: small_batch_sum(surrogate, *Rows(u, l, w).own()), inputs
    )


@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
def test_slopes_at_ties_and_breaks_are_those_of_sorted_lists(surrogate, monkeypatch):
    """Whether a batch is small must not show, also where a slope is a matter of convention."""
    upper = (torch.arange(-40, 40) / 8).double().requires_grad_()
    lower = (torch.arange(-36, 36) / 8).double().requires_grad_()
    found = []
    for at_once in (1 << 20, 0):
        monkeypatch.setattr(sums, "_SMALL_BATCH", at_once)
        total = pair_sum(surrogate, upper, lower)
        found.append([total, *torch.autograd.grad(total.sum(), (upper, lower))])
    for small, large in zip(*found, strict=True):
        torch.testing.assert_close(small, large, rtol=1e-6, atol=1e-9)


def test_half_precision_is_summed_and_returned_in_single():
    upper, lower = torch.randn(30, dtype=torch.float16), torch.randn(40, dtype=torch.float16)
    total = pair_sum(SURROGATES[1], upper, lower)
    assert total.dtype == torch.float32
    expected = brute(SURROGATES[1], upper.double(), lower.double()).float()
    torch.testing.assert_close(total, expected)


def log_brute(surrogate, upper, lower, weight, temperature=1.0):
    exponent = surrogate.value(upper.unsqueeze(-1) - lower.unsqueeze(-2)) / temperature
    return torch.logsumexp(exponent + weight.log().unsqueeze(-2), dim=-1)


@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
@given(lists=pair_lists())
@settings(max_examples=40)
def test_a_log_sum_exp_equals_the_definition(surrogate, lists):
    upper, lower, weight = (t.reshape(math.prod(t.shape[:-1]), t.shape[-1]) for t in lists)
    if lower.numel() == 0 or isinstance(surrogate, Exponential):  # whose e^(e^x) is beyond numbers
        return
    weight = weight.abs()
    total = SmallBatchLogSumExp.apply(surrogate, 2.0, upper, lower, weight)
    torch.testing.assert_close(total, log_brute(surrogate, upper, lower, weight, 0.5))


@pytest.mark.parametrize("surrogate", DIFFERENTIABLE, ids=str)
@pytest.mark.parametrize("wanted", [(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_gradients_of_a_log_sum_exp_for_what_wants_one(surrogate, wanted):
    torch.manual_seed(0)
    upper, lower, weight = (torch.rand(2, n, dtype=torch.float64) for n in (4, 7, 7))
    inputs = [
        t.requires_grad_(bool(w)) for t, w in zip((upper, lower, weight), wanted, strict=True)
    ]
    assert torch.autograd.gradcheck(
        lambda *x: SmallBatchLogSumExp.apply(surrogate, 1 / 0.3, *x), inputs
    )


def test_what_has_no_weight_is_left_out_however_large_its_term():
    upper = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    lower = torch.tensor([[1.0, 5000.0], [1.0, 2.0]], dtype=torch.float64)
    weight = torch.tensor([[1.0, 0.0], [0.0, 0.0]], dtype=torch.float64)
    total = SmallBatchLogSumExp.apply(SquaredHinge(1.0), 1.0, upper, lower, weight)
    torch.testing.assert_close(total[0], torch.full((3,), 4.0).double())
    assert (total[1] == -torch.inf).all()
    (slope,) = torch.autograd.grad(total, upper, torch.ones_like(total))
    torch.testing.assert_close(slope, torch.tensor([[-4.0], [0.0]]).double().expand(2, 3))


@pytest.mark.parametrize(
    "surrogate", [Hinge(1.0), Linear(1.0), SquaredHinge(1.0), Square(1.0), Logistic(1.0)], ids=str
)
def test_slopes_of_a_log_sum_exp_at_breaks_are_those_of_sorted_lists(surrogate):
    upper = (torch.arange(-40, 40) / 8).double().requires_grad_()
    lower = (torch.arange(-36, 36) / 8).double().requires_grad_()
    found = []
    for method in ("auto", "sorted"):
        total = pair_logsumexp(surrogate, upper, lower, temperature=0.5, method=method)
        found.append([total, *torch.autograd.grad(total.sum(), (upper, lower))])
    for small, large in zip(*found, strict=True):
        torch.testing.assert_close(small, large, rtol=1e-9, atol=1e-9)
