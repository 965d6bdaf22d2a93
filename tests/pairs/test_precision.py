"""Sums in float32: as near to those of all pairs in float64 as docs/gpu.md says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest
import torch
from tests.pairs.cases import SURROGATES
from torch import Tensor

import rankwise
from rankwise.objectives import PairwiseAUC
from rankwise.pairs import (
    Exponential,
    OneSidedHuber,
    Sigmoid,
    SquaredHinge,
    Surrogate,
    pair_curvature,
    pair_logsumexp,
    pair_sum,
)
from rankwise.pairs.precision import single

BOUND = 1e-5  # of the largest value, for 10⁴ to 10⁶ scores


def sides(dtype: torch.dtype = torch.float32, shift: float = 0.0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    upper, lower = (torch.randn(n, generator=generator) for n in (500, 9_500))
    return (upper + 1 + shift).to(dtype), (lower + shift).to(dtype)


def with_gradients(
    surrogate: Surrogate, upper: Tensor, lower: Tensor, method: str = "exponential"
) -> list[Tensor]:
    leaves = [upper.clone().requires_grad_(), lower.clone().requires_grad_()]
    total = pair_sum(surrogate, *leaves, method=method)
    return [total.detach(), *torch.autograd.grad(total.mean(), leaves)]


@pytest.mark.parametrize("method", ["exponential", "dense"])
@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
def test_the_error_is_that_of_the_page(surrogate, method):
    upper, lower = sides()
    expected = with_gradients(surrogate, upper.double(), lower.double(), "dense")
    plain = with_gradients(surrogate, upper, lower, method)
    with rankwise.single_precision():
        found = with_gradients(surrogate, upper, lower, method)
    for exact, rough in zip(expected, found, strict=True):
        assert rough.dtype == torch.float32
        assert (rough - exact).abs().max() <= BOUND * exact.abs().max()
    if not isinstance(surrogate, type(SURROGATES[0])):  # counts, which are exact in both
        assert not all(torch.equal(a, b) for a, b in zip(plain, found, strict=True))


@pytest.mark.parametrize("surrogate", [OneSidedHuber(0.1), Sigmoid(1.0)], ids=str)
def test_scores_with_a_common_shift(surrogate):
    upper, lower = sides(shift=1_000.0)
    expected = with_gradients(surrogate, upper.double(), lower.double(), "dense")
    with rankwise.single_precision():
        found = with_gradients(surrogate, upper, lower)
    for exact, rough in zip(expected, found, strict=True):
        assert (rough - exact).abs().max() <= BOUND * exact.abs().max()


def test_the_backward_pass_has_the_precision_of_its_forward_pass():
    upper, lower = sides()
    with rankwise.single_precision():
        inside = with_gradients(OneSidedHuber(0.1), upper, lower)
        leaves = [upper.clone().requires_grad_(), lower.clone().requires_grad_()]
        total = pair_sum(OneSidedHuber(0.1), *leaves, method="exponential")
    for a, b in zip(inside[1:], torch.autograd.grad(total.mean(), leaves), strict=True):
        assert torch.equal(a, b)


def test_second_derivatives():
    upper, lower = sides()
    leaf = upper.clone().requires_grad_()
    with rankwise.single_precision():
        total = pair_sum(SquaredHinge(), leaf, lower, method="sorted").sum()
        (slope,) = torch.autograd.grad(total, leaf, create_graph=True)
        (curvature,) = torch.autograd.grad(slope.sum(), leaf)
    expected = SquaredHinge().curvature(upper[:, None] - lower).sum(-1)
    torch.testing.assert_close(curvature, expected, rtol=BOUND, atol=0)


def test_float64_scores_and_log_sum_exps_keep_float64():
    single, double = sides(), sides(torch.float64)
    plain = with_gradients(Sigmoid(1.0), *double), pair_logsumexp(SquaredHinge(), *single)
    with rankwise.single_precision():
        found = with_gradients(Sigmoid(1.0), *double), pair_logsumexp(SquaredHinge(), *single)
    assert all(torch.equal(a, b) for a, b in zip(plain[0], found[0], strict=True))
    assert torch.equal(plain[1], found[1])


def test_objectives_and_curvatures_take_it(monkeypatch):
    monkeypatch.setenv("RANKWISE_COMPILED", "0")
    upper, lower = sides()
    scores, target = torch.cat([upper, lower]), torch.arange(10_000) < 500
    results = []
    for precision in (nullcontext(), rankwise.single_precision()):
        leaf = scores.clone().requires_grad_()
        with precision:
            value = PairwiseAUC(Sigmoid(1.0))(leaf, target)
            curvature = pair_curvature(SquaredHinge(), upper, lower)
        results.append([value.detach(), *torch.autograd.grad(value, leaf), curvature])
    assert not torch.equal(results[0][1], results[1][1])
    for exact, rough in zip(*results, strict=True):
        assert (rough - exact).abs().max() <= BOUND * exact.abs().max()


def test_it_belongs_to_its_context_and_ends_with_it():
    with rankwise.single_precision(), ThreadPoolExecutor(1) as pool:
        with pytest.raises(KeyError), rankwise.single_precision():
            raise KeyError
        assert single.get()
        assert not pool.submit(single.get).result()
    assert not single.get()


def test_what_overflows_says_so_as_in_float64():
    upper, lower = torch.full((2,), -300.0), torch.zeros(9_000)
    with rankwise.single_precision(), pytest.warns(RuntimeWarning, match="overflowed"):
        pair_sum(Exponential(1.0), upper, lower, method="exponential")
