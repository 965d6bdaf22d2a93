from __future__ import annotations

import pytest
import torch

from rankwise.pairs._dense import DenseReduce, sum_over_lower


@pytest.mark.parametrize("chunk", [1, 10, 50, 10_000])
def test_chunks_of_any_size_give_the_same(monkeypatch, chunk):
    monkeypatch.setattr("rankwise.pairs._dense._CHUNK", chunk)
    torch.manual_seed(0)
    upper = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    lower = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(4, 6, dtype=torch.float64, requires_grad=True)
    total = DenseReduce.apply(torch.sin, sum_over_lower, upper, lower, weight)
    expected = (torch.sin(upper.unsqueeze(-1) - lower.unsqueeze(-2)) * weight.unsqueeze(-2)).sum(-1)
    torch.testing.assert_close(total, expected)
    arriving = torch.randn_like(total)
    for a, b in zip(
        torch.autograd.grad(total, (upper, lower, weight), arriving),
        torch.autograd.grad(expected, (upper, lower, weight), arriving),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


def test_a_constant_function_has_no_gradient():
    upper, lower = torch.randn(1, 3, requires_grad=True), torch.randn(1, 4)
    total = DenseReduce.apply(torch.ones_like, sum_over_lower, upper, lower, torch.ones(1, 4))
    assert total.tolist() == [[4, 4, 4]]
    total.sum().backward()
    assert upper.grad is not None
    assert (upper.grad == 0).all()
