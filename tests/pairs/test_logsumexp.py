from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from tests.pairs.cases import pair_lists

from rankwise.pairs import Hinge, Linear, OneSidedHuber, SquaredHinge, pair_logsumexp
from rankwise.pairs import logsumexp as module

SORTED = [Hinge(0.75), Linear(0.5), SquaredHinge(1.25)]


def brute(surrogate, upper, lower, weight, temperature=1.0):
    exponent = surrogate.value(upper.unsqueeze(-1) - lower.unsqueeze(-2)) / temperature
    return torch.logsumexp(exponent + weight.log().unsqueeze(-2), dim=-1)


@pytest.mark.parametrize("method", ["sorted", "dense", "auto"])
@pytest.mark.parametrize("surrogate", SORTED, ids=str)
@given(lists=pair_lists())
@settings(max_examples=60, deadline=None)
def test_equals_the_definition(surrogate, method, lists):
    upper, lower, weight = lists[0], lists[1], lists[2].abs()
    total = pair_logsumexp(surrogate, upper, lower, weight=weight, method=method)
    torch.testing.assert_close(total, brute(surrogate, upper, lower, weight))


@pytest.mark.parametrize("sizes", [(4, 7), (7, 4)])
@pytest.mark.parametrize(
    ("surrogate", "method"),
    [*((s, "sorted") for s in SORTED), *((s, "dense") for s in [*SORTED, OneSidedHuber(0.3)])],
    ids=str,
)
def test_gradcheck(surrogate, method, sizes):
    torch.manual_seed(0)
    upper, lower = (torch.randn(2, n, dtype=torch.float64, requires_grad=True) for n in sizes)
    weight = torch.rand(2, sizes[1], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda u, l, w: pair_logsumexp(surrogate, u, l, weight=w, temperature=0.3, method=method),
        (upper, lower, weight),
    )


@pytest.mark.parametrize("surrogate", SORTED, ids=str)
@pytest.mark.parametrize("temperature", [1.0, 1e-3])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_huge_scores_and_small_temperatures(surrogate, temperature, dtype):
    upper = torch.tensor([-1e4, 0.0, 1e4], dtype=dtype, requires_grad=True)
    lower = torch.tensor([1e4, -1e4, 0.0, 5.0], dtype=dtype, requires_grad=True)
    options = dict(temperature=temperature, method="sorted")
    total = pair_logsumexp(surrogate, upper, lower, **options)
    dense = pair_logsumexp(surrogate, upper, lower, temperature=temperature, method="dense")
    torch.testing.assert_close(total, dense)
    fast = torch.autograd.grad(total.sum(), (upper, lower))
    slow = torch.autograd.grad(dense.sum(), (upper, lower))
    for a, b in zip(fast, slow, strict=True):
        assert not a.isnan().any()  # a slope of 4e7 is infinite in half precision
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("surrogate", SORTED, ids=str)
def test_lists_without_weight_give_minus_infinity_and_no_gradient(surrogate):
    upper = torch.randn(3, requires_grad=True)
    lower = torch.randn(4, requires_grad=True)
    mask = torch.zeros(4, dtype=torch.bool)
    for method in ("sorted", "dense"):
        total = pair_logsumexp(surrogate, upper, lower, lower_mask=mask, method=method)
        assert (total == -torch.inf).all()
        to_upper, to_lower = torch.autograd.grad(total.exp().sum(), (upper, lower))
        assert (to_upper == 0).all()
        assert (to_lower == 0).all()
    assert pair_logsumexp(surrogate, upper, torch.zeros(0)).tolist() == [-torch.inf] * 3


def test_groups():
    groups = torch.tensor([1, 2, 1]), torch.tensor([2, 1, 2, 2])
    upper, lower = torch.randn(3, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    total = pair_logsumexp(Hinge(1.0), upper, lower, upper_groups=groups[0], lower_groups=groups[1])
    same = (groups[0][:, None] == groups[1]).double()
    exponent = Hinge(1.0).value(upper[:, None] - lower) + same.log()
    torch.testing.assert_close(total, torch.logsumexp(exponent, -1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(temperature=0.0), "temperature must be a finite number > 0, got 0.0"),
        (dict(weight=-torch.ones(3)), "weight must not be negative, got -1"),
        (dict(method="exponential"), "method must be one of"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        pair_logsumexp(Hinge(1.0), torch.zeros(3), torch.zeros(3), **options)


def test_sorted_is_for_lines_and_hinges():
    with pytest.raises(ValueError, match="must be Hinge, Linear or SquaredHinge"):
        pair_logsumexp(OneSidedHuber(1.0), torch.zeros(3), torch.zeros(3), method="sorted")


def test_a_device_without_doubles_goes_over_the_pairs(monkeypatch):
    """A power of a distance overflows single precision, and then times 0 is no number."""
    monkeypatch.setattr(module, "accumulating", lambda t: t.float())
    upper, lower = torch.randn(300) * 1e4, torch.randn(200) * 1e4
    total = pair_logsumexp(SquaredHinge(1.0), upper, lower)
    dense = pair_logsumexp(SquaredHinge(1.0), upper, lower, method="dense")
    assert torch.equal(total, dense)
    assert torch.isfinite(total).all()


@pytest.mark.parametrize("temperature", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
def test_many_squares_are_those_of_the_pairs(temperature, spread):
    torch.manual_seed(0)
    upper, lower = ((torch.randn(3, n).double() * spread).requires_grad_() for n in (300, 200))
    weight = torch.rand(3, 200).double()
    weight[:, lower.argmax(-1)] = 0  # the highest one does not count
    weight.requires_grad_(spread == 1.0)
    leaves = [leaf for leaf in (upper, lower, weight) if leaf.requires_grad]
    found = {}
    for method in ("auto", "dense"):
        total = pair_logsumexp(
            SquaredHinge(1.0), upper, lower, weight=weight, temperature=temperature, method=method
        )
        slopes = torch.autograd.grad((total * torch.linspace(-1, 2, 300)).sum(), leaves)
        found[method] = [total.detach(), *slopes]
    for fast, slow in zip(found["auto"], found["dense"], strict=True):
        torch.testing.assert_close(fast, slow, rtol=1e-9, atol=1e-9)
