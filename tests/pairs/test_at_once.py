from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from tests.pairs.cases import DIFFERENTIABLE, SURROGATES, brute, pair_lists

from rankwise.pairs import pair_sum, sums
from rankwise.pairs.at_once import sum_at_once
from rankwise.pairs.rows import Rows


@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
@given(lists=pair_lists())
@settings(max_examples=40, deadline=None)
def test_equals_the_definition(surrogate, lists):
    upper, lower, weight = (t.reshape(math.prod(t.shape[:-1]), t.shape[-1]) for t in lists)
    total = sum_at_once(surrogate, Rows(upper, lower, weight))
    torch.testing.assert_close(total, brute(surrogate, upper, lower, weight))
    total = sum_at_once(surrogate, Rows(upper, lower, None))
    torch.testing.assert_close(total, brute(surrogate, upper, lower))


@pytest.mark.parametrize("surrogate", DIFFERENTIABLE, ids=str)
@pytest.mark.parametrize("wanted", [(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_gradients_of_what_wants_one(surrogate, wanted):
    torch.manual_seed(0)
    upper, lower, weight = (torch.randn(2, n, dtype=torch.float64) for n in (4, 7, 7))
    inputs = [
        t.requires_grad_(bool(w)) for t, w in zip((upper, lower, weight), wanted, strict=True)
    ]
    assert torch.autograd.gradcheck(lambda u, l, w: sum_at_once(surrogate, Rows(u, l, w)), inputs)


@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
def test_slopes_at_ties_and_breaks_are_those_of_sorted_lists(surrogate, monkeypatch):
    """Whether a batch is small must not show, also where a slope is a matter of convention."""
    upper = (torch.arange(-40, 40) / 8).double().requires_grad_()
    lower = (torch.arange(-36, 36) / 8).double().requires_grad_()
    found = []
    for at_once in ((1 << 20, 1 << 20), (0, 0)):
        monkeypatch.setattr(sums, "_AT_ONCE", at_once)
        monkeypatch.setattr(sums, "_IN_CHUNKS", (0, 0))
        total = pair_sum(surrogate, upper, lower)
        found.append([total, *torch.autograd.grad(total.sum(), (upper, lower))])
    for small, large in zip(*found, strict=True):
        torch.testing.assert_close(small, large, rtol=1e-6, atol=1e-9)


def test_half_precision_is_summed_in_double_and_returned_in_single():
    upper, lower = torch.randn(30, dtype=torch.float16), torch.randn(40, dtype=torch.float16)
    total = pair_sum(SURROGATES[1], upper, lower)
    assert total.dtype == torch.float32
    expected = brute(SURROGATES[1], upper.double(), lower.double()).float()
    torch.testing.assert_close(total, expected)
