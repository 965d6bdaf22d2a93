from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from tests.pairs.cases import pair_lists

from rankwise import no_checks
from rankwise.pairs import (
    Hinge,
    Linear,
    Logistic,
    OneSidedHuber,
    Square,
    SquaredHinge,
    pair_logsumexp,
)
from rankwise.pairs import logsumexp as module

SORTED = [Hinge(0.75), Linear(0.5), SquaredHinge(1.25), Square(0.75), Logistic(1.5)]

MANY = [SquaredHinge(1.0), Square(1.0), Logistic(1.0)]  # over the pairs where these are few


def brute(surrogate, upper, lower, weight, temperature=1.0):
    exponent = surrogate.value(upper.unsqueeze(-1) - lower.unsqueeze(-2)) / temperature
    return torch.logsumexp(exponent + weight.log().unsqueeze(-2), dim=-1)


@pytest.mark.parametrize("method", ["sorted", "dense", "auto"])
@pytest.mark.parametrize("surrogate", SORTED, ids=str)
@given(lists=pair_lists())
@settings(max_examples=60)
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


def test_sorted_is_for_some_surrogates():
    with pytest.raises(ValueError, match=r"must be Hinge, .* Square or Logistic for"):
        pair_logsumexp(OneSidedHuber(1.0), torch.zeros(3), torch.zeros(3), method="sorted")


@pytest.mark.parametrize("surrogate", MANY, ids=str)
def test_a_device_without_doubles_goes_over_the_pairs(monkeypatch, surrogate):
    """A power of a distance overflows single precision, and then times 0 is not a number."""
    monkeypatch.setattr("rankwise.pairs.rows.accumulating", lambda t: t.float())
    upper, lower = torch.randn(700) * 1e4, torch.randn(300) * 1e4
    total = pair_logsumexp(surrogate, upper, lower)
    dense = pair_logsumexp(surrogate, upper, lower, method="dense")
    assert torch.equal(total, dense)
    assert torch.isfinite(total).all()


@pytest.mark.parametrize("temperature", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("all_count", [True, False])
@pytest.mark.parametrize("surrogate", MANY, ids=str)
def test_many_items_are_those_of_the_pairs(surrogate, all_count, temperature, spread):
    torch.manual_seed(0)
    upper, lower = ((torch.randn(3, n).double() * spread).requires_grad_() for n in (300, 200))
    weight = torch.rand(3, 200).double()
    leaves = [upper, lower]
    if all_count:
        leaves.append(weight.requires_grad_())
    else:  # what does not count is beyond all else, and its weight must not ask for a slope
        for ends in (lower.argmax(-1), lower.argmin(-1)):
            weight.scatter_(-1, ends.unsqueeze(-1), 0)
    found = {}
    for method in ("auto", "sorted", "dense"):
        total = pair_logsumexp(
            surrogate, upper, lower, weight=weight, temperature=temperature, method=method
        )
        slopes = torch.autograd.grad((total * torch.linspace(-1, 2, 300)).sum(), leaves)
        found[method] = [total.detach(), *slopes]
    for method in ("auto", "sorted"):
        for fast, slow in zip(found[method], found["dense"], strict=True):
            at_most = 1e-11 * max(1.0, float(slow.abs().max()))
            torch.testing.assert_close(fast, slow, rtol=1e-9, atol=at_most)


@pytest.mark.parametrize("surrogate", MANY, ids=str)
def test_many_items_take_no_pairs(monkeypatch, surrogate):
    def refused(*_):
        raise AssertionError("all pairs were asked for")

    monkeypatch.setattr(module.DenseReduce, "apply", refused)
    monkeypatch.setattr(module.SmallBatchLogSumExp, "apply", refused)
    upper, lower = torch.randn(2, 400), torch.randn(2, 300)
    assert torch.isfinite(pair_logsumexp(surrogate, upper, lower)).all()
    with pytest.raises(AssertionError, match="all pairs"):
        pair_logsumexp(surrogate, upper[:, :9], lower[:, :9])  # of few, pairs cost less


@pytest.mark.parametrize("surrogate", [*SORTED, OneSidedHuber(0.3)], ids=str)
def test_of_few_items_all_pairs_are_kept(monkeypatch, surrogate):
    monkeypatch.setattr(module, "DenseReduce", None)
    monkeypatch.setattr(module, "_sorted", None)
    upper, lower = torch.randn(2, 90), torch.randn(2, 80)
    assert torch.isfinite(pair_logsumexp(surrogate, upper, lower)).all()


@pytest.mark.parametrize("surrogate", MANY, ids=str)
@pytest.mark.parametrize("ends", [1e-5, 1e-12, 1e-30])
def test_a_highest_lower_that_hardly_counts_costs_no_digits(surrogate, ends):
    """What is far below it, and counts, is not to drown in the rounding of its term."""
    torch.manual_seed(0)
    upper, lower = torch.randn(500).double(), torch.randn(300).double()
    weight = torch.ones_like(lower)
    lower[0], lower[1] = 9, -9
    weight[:2] = ends
    options = dict(weight=weight, temperature=0.5)
    found = pair_logsumexp(surrogate, upper, lower, **options)
    torch.testing.assert_close(
        found, brute(surrogate, upper, lower, weight, 0.5), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("surrogate", MANY, ids=str)
def test_a_weight_of_nothing_above_all_others_has_its_slope(surrogate):
    torch.manual_seed(0)
    upper, lower = torch.randn(500).double(), torch.randn(300).double()
    weight = torch.ones_like(lower)
    top = int(lower.argmax())
    weight[top] = 0
    total = pair_logsumexp(surrogate, upper, lower, weight=weight.requires_grad_())
    (slope,) = torch.autograd.grad(total.sum(), weight)
    term = surrogate.value(upper - lower[top])
    torch.testing.assert_close(slope[top], torch.exp(term - total.detach()).sum())


@pytest.mark.parametrize("n", [50, 600])  # all pairs at once, and not
@pytest.mark.parametrize("surrogate", [Hinge(1.0), *MANY], ids=str)
def test_unchecked_nothing_is_made_of_what_is_no_number(surrogate, n):
    torch.manual_seed(0)
    upper, lower = torch.randn(n), torch.randn(n)
    upper[3] = torch.nan
    with no_checks():
        found = pair_logsumexp(surrogate, upper, lower)
        assert found[3].isnan()
        lower[5] = torch.nan
        assert pair_logsumexp(surrogate, upper.nan_to_num(), lower).isnan().all()


def test_where_cells_would_cost_more_than_pairs_pairs_are_taken(monkeypatch):
    """Scores over dozens of octaves, in lists of some hundred."""
    torch.manual_seed(0)
    upper, lower = torch.randn(400).double() * 20, torch.randn(400).double() * 20
    taken = []
    dense = module.DenseReduce.apply
    monkeypatch.setattr(module.DenseReduce, "apply", lambda *a: taken.append(1) or dense(*a))
    found = [pair_logsumexp(Logistic(1.0), upper, lower, method=m) for m in ("auto", "sorted")]
    assert len(taken) == 1
    torch.testing.assert_close(*found)
