from __future__ import annotations

import pytest
import torch

from rankwise.pairs import squared_exponents
from rankwise.pairs.squared_exponents import log_sum_exp_of_squares


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
    monkeypatch.setattr(squared_exponents, "_ITEMS", items)
    inputs = [x.requires_grad_() for x in lists()]
    torch.testing.assert_close(log_sum_exp_of_squares(*inputs), brute(*inputs))
    assert torch.autograd.gradcheck(log_sum_exp_of_squares, inputs)


def test_a_list_without_weight_has_no_value_and_no_gradient():
    t, v, weight = lists()
    weight[1] = 0
    t.requires_grad_()
    v.requires_grad_()
    total = log_sum_exp_of_squares(t, v, weight)
    assert (total[1] == -torch.inf).all()
    assert torch.isfinite(total[[0, 2]]).all()
    for slope in torch.autograd.grad(total, (t, v), torch.ones_like(total)):
        assert torch.isfinite(slope).all()
        assert (slope[1] == 0).all()
        assert (slope[0] != 0).any()
