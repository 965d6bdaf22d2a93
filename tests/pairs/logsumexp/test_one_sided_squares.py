from __future__ import annotations

import pytest
import torch
from tests.pairs.logsumexp.cases import assert_nothing_comes_of_no_weight

from rankwise.pairs._logsumexp import one_sided_squares
from rankwise.pairs._logsumexp.one_sided_squares import log_sum_exp_of_one_sided_squares


def lists(rows=3, uppers=9, lowers=7):
    torch.manual_seed(0)
    t = torch.randn(rows, uppers, dtype=torch.float64) * 2  # below 0: no pair within the margin
    v = torch.rand(rows, lowers, dtype=torch.float64) * 3 + 0.01
    return t, v, torch.rand(rows, lowers, dtype=torch.float64)


def brute(t, v, weight):
    square = (t.unsqueeze(-1) - v.unsqueeze(-2)).clamp_min(0) ** 2
    return torch.logsumexp(square + weight.log().unsqueeze(-2), -1)


@pytest.mark.parametrize("items", [1, 40, 1 << 16])
def test_value_and_gradients_in_blocks_of_any_size(monkeypatch, items):
    monkeypatch.setattr(one_sided_squares, "_ITEMS", items)
    inputs = [x.requires_grad_() for x in lists()]
    torch.testing.assert_close(log_sum_exp_of_one_sided_squares(*inputs), brute(*inputs))
    assert torch.autograd.gradcheck(log_sum_exp_of_one_sided_squares, inputs)


def test_a_list_without_weight_has_no_value_and_no_gradient():
    assert_nothing_comes_of_no_weight(log_sum_exp_of_one_sided_squares, *lists())


@pytest.mark.parametrize("spread", [1e6, 1e14, 1e30])
def test_what_is_far_beyond_the_cells_keeps_its_slopes(spread):
    t = torch.tensor([[-spread, 3.0, spread, 2 * spread]], dtype=torch.float64)
    v = torch.tensor([[0.0, 0.0, 1.0, spread / 2]], dtype=torch.float64)
    weight = torch.tensor([[1.0, 2.0, 1.0, 1.0]], dtype=torch.float64)
    t.requires_grad_()
    v.requires_grad_()
    # The largest terms are those of v = 0, with a third and two thirds of all; autograd of the
    # definition has no digits left for them.
    total = log_sum_exp_of_one_sided_squares(t, v, weight)
    to_t, to_v = torch.autograd.grad(total.sum(), (t, v))
    torch.testing.assert_close(total[0, 2:], t[0, 2:] ** 2)
    torch.testing.assert_close(to_t[0, 2:], 2 * t[0, 2:])
    near = torch.tensor([-2 * spread, -4 * spread], dtype=torch.float64)
    torch.testing.assert_close(to_v[0, :2], near, rtol=1e-5, atol=0)
    torch.testing.assert_close(total[0, :2], brute(t, v, weight)[0, :2])
