"""Sums of exponentials: relative precision in the tails and near ties, at any rate and spread."""

from __future__ import annotations

import pytest
import torch

from rankwise.pairs import Logistic, OneSidedSigmoid, Sigmoid, pair_sum
from rankwise.pairs._engine.tails import TAIL_ERROR


@pytest.mark.parametrize("sizes", [(30, 200), (200, 30)])
@pytest.mark.parametrize("spread", [1e-9, 1e-3, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("offset", [-20.0, 0.0, 20.0, 500.0])
@pytest.mark.parametrize("surrogate", [Sigmoid(1.0), Logistic(1.0), OneSidedSigmoid(1.0)], ids=str)
def test_relative_error_tails_and_near_ties_included(surrogate, offset, spread, sizes):
    torch.manual_seed(0)
    upper = offset + spread * torch.randn(sizes[0], dtype=torch.float64)
    lower = spread * torch.randn(sizes[1], dtype=torch.float64)
    x = upper[:, None] - lower
    upper.requires_grad_()
    lower.requires_grad_()
    total = pair_sum(surrogate, upper, lower, method="exponential")
    torch.testing.assert_close(total, surrogate.value(x).sum(1), rtol=TAIL_ERROR, atol=0)
    # Not autograd of the value, p(1 − p), which has lost the tail by itself where p is near 1.
    slope = surrogate.derivative(x)
    to_upper, to_lower = torch.autograd.grad(total.sum(), (upper, lower))
    torch.testing.assert_close(to_upper, slope.sum(1), rtol=TAIL_ERROR, atol=1e-300)
    torch.testing.assert_close(to_lower, -slope.sum(0), rtol=TAIL_ERROR, atol=1e-300)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e6])
def test_any_rate(scale):
    torch.manual_seed(1)
    upper, lower = torch.randn(50, dtype=torch.float64), torch.randn(300, dtype=torch.float64)
    for surrogate in (Sigmoid(scale), Logistic(scale), OneSidedSigmoid(1 / scale)):
        fast = pair_sum(surrogate, upper, lower, method="exponential")
        slow = pair_sum(surrogate, upper, lower, method="dense")
        torch.testing.assert_close(fast, slow, rtol=TAIL_ERROR, atol=0)


def test_pieces_of_a_long_list(monkeypatch):
    torch.manual_seed(2)
    upper = torch.randn(3, 20, dtype=torch.float64, requires_grad=True)
    lower = torch.randn(3, 100, dtype=torch.float64, requires_grad=True)

    def run():
        total = pair_sum(OneSidedSigmoid(0.2), upper, lower, method="exponential")
        return total, *torch.autograd.grad(total.sum(), (upper, lower))

    whole = run()
    monkeypatch.setattr("rankwise.pairs._engine.knots._PIECE", 21)
    monkeypatch.setattr("rankwise.pairs._engine.exponentials._VALUES", 300)  # five terms at once
    for a, b in zip(whole, run(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-13, atol=1e-13)
