"""Second derivatives of sums over pairs equal those of the written-out definition."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
import torch
from tests.pairs.cases import EXPONENTIAL, POLYNOMIAL, SURROGATES, brute

from rankwise.pairs import (
    Hinge,
    Linear,
    Logistic,
    Square,
    SquaredHinge,
    pair_logsumexp,
    pair_sum,
)

needs_numba = pytest.mark.skipif(find_spec("numba") is None, reason="the extra fast is missing")
BY_SORTING = [(s, "sorted") for s in POLYNOMIAL] + [(s, "exponential") for s in EXPONENTIAL]
COMPILED = [pytest.param(s, "compiled", marks=needs_numba) for s in SURROGATES]
METHODS = [*BY_SORTING, *COMPILED, *((s, how) for s in SURROGATES for how in ("auto", "dense"))]
SQUARES = [SquaredHinge(1.25), Square(1.0), Logistic(2.0)]


def sides(seed=0, rows=3):
    generator = torch.Generator().manual_seed(seed)

    def draw(n):
        return torch.randn(rows, n, generator=generator, dtype=torch.float64)

    return draw(7), draw(11), draw(11).abs()


def first_and_second(function, inputs, seed=3):
    """Gradients of a weighted sum of the results, and derivatives of a weighted sum of these."""
    inputs = [t.clone().requires_grad_() for t in inputs]
    generator = torch.Generator().manual_seed(seed)
    value = function(*inputs)
    seeds = [torch.randn(t.shape, generator=generator, dtype=t.dtype) for t in (value, *inputs)]
    arriving = seeds[0].requires_grad_()
    first = torch.autograd.grad(value, inputs, arriving, create_graph=True)
    along = sum((g * s).sum() for g, s in zip(first, seeds[1:], strict=True))
    second = torch.autograd.grad(
        along, [*inputs, arriving], allow_unused=True, materialize_grads=True
    )
    return [t.detach() for t in (*first, *second)]


def check(found, expected, near):
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=near, atol=near * max(1.0, float(b.abs().max())))


@pytest.mark.parametrize(("surrogate", "method"), METHODS, ids=str)
def test_second_derivatives_of_sums_equal_the_definition(surrogate, method):
    inputs = sides()
    expected = first_and_second(lambda u, l, w: brute(surrogate, u, l, w), inputs)
    found = first_and_second(
        lambda u, l, w: pair_sum(surrogate, u, l, weight=w, method=method), inputs
    )
    # Sigmoids are sums of exponentials, and their second derivatives lose a digit or two.
    check(found, expected, 1e-9 if surrogate in POLYNOMIAL else 2e-5)


@pytest.mark.parametrize("method", ["auto", pytest.param("compiled", marks=needs_numba)])
def test_second_derivatives_of_groups_and_masks_equal_those_of_rows(method):
    upper, lower, weight = sides()
    mask = torch.arange(11).expand(3, 11) % 4 > 0

    def flat(u, l, w):
        return pair_sum(
            SquaredHinge(1.25),
            u.flatten(),
            l.flatten(),
            weight=w.flatten(),
            lower_mask=mask.flatten(),
            upper_groups=torch.arange(3).repeat_interleave(7),
            lower_groups=torch.arange(3).repeat_interleave(11),
            method=method,
        ).reshape(3, 7)

    expected = first_and_second(lambda u, l, w: brute(SquaredHinge(1.25), u, l, w * mask), sides())
    check(first_and_second(flat, (upper, lower, weight)), expected, 1e-9)


def test_long_lists_in_blocks_have_second_derivatives(monkeypatch):
    inputs, surrogate = sides(rows=5), SquaredHinge(1.25)
    expected = first_and_second(lambda u, l, w: brute(surrogate, u, l, w), inputs)
    monkeypatch.setattr("rankwise.pairs._engine.autograd._BLOCK_BYTES", 1)
    monkeypatch.setattr("rankwise.pairs._dense._CHUNK", 16)
    for method in ("sorted", "dense"):
        found = first_and_second(
            lambda u, l, w, how=method: pair_sum(surrogate, u, l, weight=w, method=how), inputs
        )
        check(found, expected, 1e-9)


@pytest.mark.parametrize("method", ["auto", "sorted", "dense"])
@pytest.mark.parametrize("temperature", [0.5, 2.0])
@pytest.mark.parametrize("surrogate", [*SQUARES, Hinge(0.75), Linear(0.5)], ids=str)
def test_second_derivatives_of_logsumexp_equal_the_definition(surrogate, temperature, method):
    def definition(u, l, w):
        values = surrogate.value(u.unsqueeze(-1) - l.unsqueeze(-2)) / temperature
        return torch.logsumexp(values + w.log().unsqueeze(-2), -1)

    def ours(u, l, w):
        return pair_logsumexp(surrogate, u, l, weight=w, temperature=temperature, method=method)

    inputs = sides()
    check(first_and_second(ours, inputs), first_and_second(definition, inputs), 1e-8)


@pytest.mark.parametrize("method", ["auto", "sorted"])
def test_logsumexp_of_a_line_with_fixed_weights_has_second_derivatives(method):
    upper, lower, weight = sides()

    def definition(u, l):
        return torch.logsumexp(l + weight.log(), -1, keepdim=True) - u

    def ours(u, l):
        return pair_logsumexp(Linear(), u, l, weight=weight, method=method)

    check(
        first_and_second(ours, (upper, lower)), first_and_second(definition, (upper, lower)), 1e-9
    )


@pytest.mark.parametrize("method", ["auto", "sorted", pytest.param("compiled", marks=needs_numba)])
def test_a_third_derivative_is_refused(method):
    upper = torch.randn(5, dtype=torch.float64, requires_grad=True)
    lower = torch.randn(6, dtype=torch.float64)
    total = pair_sum(SquaredHinge(), upper, lower, method=method).sum()
    (slope,) = torch.autograd.grad(total, upper, create_graph=True)

    def third():
        (bend,) = torch.autograd.grad(slope.square().sum(), upper, create_graph=True)
        bend.sum().backward()

    with pytest.raises(RuntimeError, match="a third one was asked for"):
        third()


def test_one_side_computed_from_the_other_is_counted_once():
    scores = torch.randn(6, dtype=torch.float64, requires_grad=True)

    def value(s):
        return pair_sum(SquaredHinge(), s, 2 * s).square().sum()

    (slope,) = torch.autograd.grad(value(scores), scores, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), scores)
    hessian = torch.autograd.functional.hessian(
        lambda s: brute(SquaredHinge(), s, 2 * s).square().sum(), scores.detach()
    )
    torch.testing.assert_close(bend, hessian.sum(0))
