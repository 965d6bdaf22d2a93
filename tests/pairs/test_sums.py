"""``pair_sum`` and ``pair_curvature`` against the definition, on every awkward list we know."""

from __future__ import annotations

import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pairs.cases import DIFFERENTIABLE, EXPONENTIAL, POLYNOMIAL, SURROGATES, brute, pair_lists
from torch import Tensor

from rankwise.pairs import (
    Exponential,
    Hinge,
    OneSidedHuber,
    Sigmoid,
    SquaredHinge,
    Surrogate,
    pair_curvature,
    pair_logsumexp,
    pair_sum,
)

ids = dict(ids=str)


def tolerance(surrogate: Surrogate) -> dict[str, float]:
    return dict(rtol=1e-12, atol=1e-10) if surrogate in POLYNOMIAL else dict(rtol=2e-7, atol=1e-7)


def engine(surrogate: Surrogate) -> str:
    return "sorted" if surrogate in POLYNOMIAL else "exponential"


def with_gradients(
    method: str, surrogate: Surrogate, upper: Tensor, lower: Tensor, weight: Tensor
) -> tuple[Tensor, ...]:
    leaves = [t.clone().requires_grad_() for t in (upper, lower, weight)]
    total = pair_sum(surrogate, leaves[0], leaves[1], weight=leaves[2], method=method)
    arriving = torch.linspace(-1, 2, max(1, total.numel()), dtype=total.dtype)[: total.numel()]
    gradients = torch.autograd.grad(total, leaves, arriving.reshape(total.shape))
    return total.detach(), *gradients


@pytest.mark.parametrize("surrogate", SURROGATES, **ids)
@given(lists=pair_lists())
@settings(max_examples=60)
def test_engine_equals_dense_forward_and_backward(surrogate, lists):
    fast = with_gradients(engine(surrogate), surrogate, *lists)
    slow = with_gradients("dense", surrogate, *lists)
    names = ("value", "upper", "lower", "weight")
    smooth = surrogate in DIFFERENTIABLE
    for name, a, b in zip(names, fast, slow, strict=True):
        if smooth or name in ("value", "weight"):  # at a kink autograd may take either side
            torch.testing.assert_close(
                a, b, **tolerance(surrogate), msg=lambda m, n=name: f"{n}: {m}"
            )


@pytest.mark.parametrize("surrogate", SURROGATES, **ids)
@given(lists=pair_lists())
@settings(max_examples=25)
def test_dense_and_auto_equal_the_definition(surrogate, lists):
    upper, lower, weight = lists
    expected = brute(surrogate, upper, lower, weight)
    for method in ("dense", "auto"):
        total = pair_sum(surrogate, upper, lower, weight=weight, method=method)
        torch.testing.assert_close(total, expected, **tolerance(surrogate))


@pytest.mark.parametrize("surrogate", SURROGATES, **ids)
@pytest.mark.parametrize("sizes", [(40, 300), (300, 40), (1, 500), (200, 200)])
def test_large_lists_and_kinks_off_the_ties(surrogate, sizes):
    torch.manual_seed(0)
    upper, lower = (3 * torch.randn(2, n, dtype=torch.float64) for n in sizes)
    weight = torch.randn(2, sizes[1], dtype=torch.float64)
    fast = with_gradients(engine(surrogate), surrogate, upper, lower, weight)
    slow = with_gradients("dense", surrogate, upper, lower, weight)
    for a, b in zip(fast, slow, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-7, atol=1e-7 * float(b.abs().max()))


@pytest.mark.parametrize("surrogate", [*DIFFERENTIABLE, Hinge(0.75)], **ids)
def test_gradcheck(surrogate):
    torch.manual_seed(1)
    upper, lower = (torch.randn(2, n, dtype=torch.float64, requires_grad=True) for n in (4, 6))
    weight = torch.rand(2, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda u, l, w: pair_sum(surrogate, u, l, weight=w, method=engine(surrogate)),
        (upper, lower, weight),
        atol=1e-6,
    )


@pytest.mark.parametrize("surrogate", SURROGATES, **ids)
@given(lists=pair_lists())
@settings(max_examples=25)
def test_curvature_equals_the_definition_on_both_sides(surrogate, lists):
    upper, lower, weight = lists
    second = surrogate.curvature(upper.unsqueeze(-1) - lower.unsqueeze(-2))
    expected = (second * weight.unsqueeze(-2)).sum(-1)
    tol = dict(rtol=1e-6, atol=1e-5) if surrogate in EXPONENTIAL else dict(rtol=1e-12, atol=1e-10)
    torch.testing.assert_close(
        pair_curvature(surrogate, upper, lower, weight=weight), expected, **tol
    )
    arriving = torch.linspace(1, 2, upper.shape[-1], dtype=upper.dtype).expand_as(upper)
    expected = (second * arriving.unsqueeze(-1)).sum(-2)
    turned = pair_curvature(surrogate, -lower, -upper, weight=arriving.contiguous())
    torch.testing.assert_close(turned, expected, **tol)


@pytest.mark.parametrize("surrogate", SURROGATES, **ids)
@given(lists=pair_lists(), data=st.data())
@settings(max_examples=20)
def test_masked_items_are_absent_whatever_they_hold(surrogate, lists, data):
    upper, lower, weight = lists
    count = lower.numel()
    mask = torch.tensor(
        data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), dtype=torch.bool
    ).reshape(lower.shape)
    garbage = torch.where(mask, lower, torch.nan)
    total = pair_sum(surrogate, upper, garbage, weight=weight, lower_mask=mask)
    expected = brute(surrogate, upper, lower, torch.where(mask, weight, 0))
    torch.testing.assert_close(total, expected, **tolerance(surrogate))


def test_masked_items_get_no_gradient():
    upper = torch.randn(3, 40, dtype=torch.float64)
    lower = torch.randn(3, 50, dtype=torch.float64, requires_grad=True)
    mask = torch.rand(3, 50) < 0.5
    pair_sum(OneSidedHuber(1.0), upper, lower, lower_mask=mask, method="sorted").sum().backward()
    assert lower.grad is not None
    assert (lower.grad[~mask] == 0).all()
    assert (lower.grad[mask] != 0).any()


@pytest.mark.parametrize("surrogate", [OneSidedHuber(0.5), Sigmoid(2.0)], **ids)
@pytest.mark.parametrize("method", ["auto", "exponential", "dense"])
def test_groups_are_separate_lists(surrogate, method):
    torch.manual_seed(2)
    upper_groups = torch.tensor([7, -3, 7, 7, 100, -3, 7, 5])
    lower_groups = torch.tensor([7] * 30 + [-3] * 2 + [5] * 9 + [8])
    shuffle = torch.randperm(len(lower_groups))
    lower_groups = lower_groups[shuffle]
    upper = torch.randn(8, dtype=torch.float64, requires_grad=True)
    lower = torch.randn(42, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(42, dtype=torch.float64, requires_grad=True)
    total = pair_sum(
        surrogate,
        upper,
        lower,
        weight=weight,
        upper_groups=upper_groups,
        lower_groups=lower_groups,
        method=method,
    )
    same = (upper_groups[:, None] == lower_groups).double()
    expected = (surrogate.value(upper[:, None] - lower) * weight * same).sum(-1)
    torch.testing.assert_close(total, expected, rtol=1e-7, atol=1e-8)
    arriving = torch.randn(8, dtype=torch.float64)
    for a, b in zip(
        torch.autograd.grad(total, (upper, lower, weight), arriving),
        torch.autograd.grad(expected, (upper, lower, weight), arriving),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-7)


def test_groups_of_empty_sides():
    none, some = torch.zeros(0), torch.ones(3)
    no_ids, ids_ = torch.zeros(0, dtype=torch.long), torch.tensor([1, 1, 2])
    loss = Hinge(1.0)
    total = pair_sum(loss, some, none, upper_groups=ids_, lower_groups=no_ids)
    assert total.tolist() == [0, 0, 0]
    total = pair_sum(loss, none, some, upper_groups=no_ids, lower_groups=ids_)
    assert total.shape == (0,)
    total = pair_sum(loss, none, none, upper_groups=no_ids, lower_groups=no_ids)
    assert total.shape == (0,)


def test_leading_dimensions_broadcast():
    upper = torch.randn(4, 1, 3, requires_grad=True)
    lower = torch.randn(5, 6, requires_grad=True)
    total = pair_sum(Hinge(1.0), upper, lower)
    assert total.shape == (4, 5, 3)
    total.sum().backward()
    assert upper.grad is not None
    assert upper.grad.shape == upper.shape


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("surrogate", [OneSidedHuber(0.5), Sigmoid(2.0)], **ids)
def test_sums_are_made_in_double_precision_and_do_not_overflow_half(dtype, surrogate):
    torch.manual_seed(3)
    upper, lower = (torch.randn(n).to(dtype).requires_grad_() for n in (300, 70_000))
    total = pair_sum(surrogate, upper, lower)
    assert total.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    expected = pair_sum(surrogate, upper.detach().double(), lower.detach().double())
    torch.testing.assert_close(total.double(), expected, rtol=1e-6, atol=0)
    parts = pair_sum(surrogate, upper, lower, method=engine(surrogate))
    torch.testing.assert_close(parts.double(), expected, rtol=1e-6, atol=0)
    total.mean().backward()
    assert upper.grad is not None
    assert lower.grad is not None
    assert upper.grad.dtype == lower.grad.dtype == dtype
    assert torch.isfinite(upper.grad).all()


@pytest.mark.parametrize(
    "surrogate", [s for s in SURROGATES if not isinstance(s, Exponential)], **ids
)
def test_huge_gaps_stay_finite(surrogate):
    upper = torch.tensor([-1e4, 0.0, 1e4, 1e8], requires_grad=True)
    lower = torch.tensor([-1e8, -1e4, 0.0, 1e4], requires_grad=True)
    total = pair_sum(surrogate, upper, lower, method=engine(surrogate))
    torch.testing.assert_close(total, pair_sum(surrogate, upper, lower, method="dense"))
    total.sum().backward()
    assert torch.isfinite(total).all()
    assert torch.isfinite(upper.grad).all()
    assert torch.isfinite(lower.grad).all()


def test_exponential_says_that_it_overflows():
    far = torch.tensor([-1e4]), torch.tensor([1e4])
    with pytest.warns(RuntimeWarning, match="Exponential.*overflowed"):
        assert torch.isinf(pair_sum(Exponential(1.0), *far)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            pair_sum(Exponential(1.0), far[1], far[0]).item() == 0
        )  # nor does it underflow to NaN


def test_lists_worked_in_blocks_equal_lists_worked_at_once(monkeypatch):
    torch.manual_seed(4)
    upper, lower = torch.randn(50, 30), torch.randn(50, 70)
    weight = torch.rand(50, 70)
    whole = with_gradients("sorted", OneSidedHuber(0.3), upper, lower, weight)
    monkeypatch.setattr("rankwise.pairs._engine.autograd._BLOCK_BYTES", 100_000)
    kept = with_gradients("sorted", OneSidedHuber(0.3), upper, lower, weight)
    monkeypatch.setattr("rankwise.pairs._engine.autograd._KEPT_BYTES", 0)
    made_again = with_gradients("sorted", OneSidedHuber(0.3), upper, lower, weight)
    for a, b, c in zip(whole, kept, made_again, strict=True):
        assert torch.equal(a, b)
        assert torch.equal(a, c)


@pytest.mark.parametrize("surrogate", [OneSidedHuber(0.1), Sigmoid(2.0), Hinge(1.0)], **ids)
def test_long_lists_in_rough_order(surrogate, monkeypatch):
    torch.manual_seed(5)
    upper, lower = torch.randn(500, dtype=torch.float64), torch.randn(3_000, dtype=torch.float64)
    weight = torch.rand(3_000, dtype=torch.float64)
    for sides in ((upper, lower, weight), (lower, upper, weight[:500])):
        plain = with_gradients("exponential", surrogate, *sides)
        with monkeypatch.context() as patch:
            patch.setattr("rankwise.pairs._engine.knots._MANY_KNOTS", 100)
            arranged = with_gradients("exponential", surrogate, *sides)
        for a, b in zip(plain, arranged, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-10)


def test_any_callable_is_summed_densely():
    upper = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    lower = torch.randn(3, 8, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda u, l: pair_sum(lambda x: x.cos(), u, l), (upper, lower))


def test_nothing_flows_where_nothing_is_asked():
    upper = torch.randn(50, requires_grad=True)
    lower, weight = torch.randn(60), torch.rand(60, requires_grad=True)
    pair_sum(OneSidedHuber(1.0), upper, lower, method="sorted").sum().backward()
    assert upper.grad is not None
    total = pair_sum(OneSidedHuber(1.0), upper.detach(), lower, weight=weight, method="sorted")
    total.sum().backward()
    expected = OneSidedHuber(1.0).value(upper.detach()[:, None] - lower).sum(0)
    torch.testing.assert_close(weight.grad, expected)
    with torch.no_grad():
        assert not pair_sum(OneSidedHuber(1.0), upper, lower).requires_grad


HUBER = OneSidedHuber(1.0)
ROW, LIST = torch.zeros(2, 3), torch.zeros(4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pair_sum(HUBER, torch.tensor([torch.nan]), LIST), "upper contains NaN"),
        (lambda: pair_sum(HUBER, LIST, torch.tensor([torch.inf])), "lower contains infinite"),
        (lambda: pair_sum(HUBER, LIST.long(), LIST), "upper must be a floating-point"),
        (lambda: pair_sum(HUBER, [1.0], LIST), "upper must be a torch.Tensor, got list"),
        (lambda: pair_sum(HUBER, torch.tensor(1.0), LIST), "upper must have at least one dim"),
        (lambda: pair_sum(HUBER, ROW, torch.zeros(3, 3)), r"upper \(2, 3\) and lower \(3, 3\)"),
        (lambda: pair_sum(HUBER, LIST, LIST, weight=ROW), r"weight \(2, 3\) and lower \(4,\)"),
        (lambda: pair_sum(HUBER, LIST, LIST, weight=LIST / 0), "weight contains NaN"),
        (lambda: pair_sum(HUBER, LIST, LIST, lower_mask=LIST), "lower_mask must be a boolean"),
        (lambda: pair_sum(HUBER, LIST, LIST.to("meta")), "lower is on meta but upper is on cpu"),
        (lambda: pair_sum(HUBER, LIST, LIST, method="fast"), "method must be one of 'auto'"),
        (lambda: pair_sum(Sigmoid(), LIST, LIST, method="sorted"), "not a piecewise polynomial"),
        (lambda: pair_sum(torch.cos, LIST, LIST, method="sorted"), "must be a Surrogate"),
        (lambda: pair_sum(HUBER, LIST, LIST, upper_groups=LIST.long()), "lower_groups is missing"),
        (
            lambda: pair_sum(HUBER, LIST, LIST, upper_groups=LIST, lower_groups=LIST),
            "upper_groups must hold integers",
        ),
        (
            lambda: pair_sum(HUBER, ROW, ROW, upper_groups=ROW.long(), lower_groups=ROW.long()),
            "upper_groups goes with one-dimensional scores",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_surrogate_may_be_given_by_its_name():
    upper, lower = torch.randn(5), torch.randn(7)
    for function in (pair_sum, pair_curvature, pair_logsumexp):
        ours = function("squared_hinge(margin=2)", upper, lower)
        assert torch.equal(ours, function(SquaredHinge(2.0), upper, lower))
    with pytest.raises(ValueError, match="did you mean Hinge"):
        pair_sum("hing", upper, lower)
