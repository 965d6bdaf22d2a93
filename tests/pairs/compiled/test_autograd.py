"""Compiled sums against the dense form, forward and backward, on every awkward list we know."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pairs.cases import DIFFERENTIABLE, HIGHER, POLYNOMIAL, SURROGATES, pair_lists
from torch import Tensor

from rankwise.pairs import (
    Exponential,
    Hinge,
    Logistic,
    OneSidedHuber,
    OneSidedSigmoid,
    Sigmoid,
    Surrogate,
    pair_sum,
)

pytest.importorskip("numba")

ids = dict(ids=str)
SOME = [OneSidedHuber(0.5), OneSidedSigmoid(0.5), Logistic(2.0)]


def tolerance(surrogate: Surrogate) -> dict[str, float]:
    return dict(rtol=1e-12, atol=1e-10) if surrogate in POLYNOMIAL else dict(rtol=2e-7, atol=1e-7)


def with_gradients(
    method: str, surrogate: Surrogate, upper: Tensor, lower: Tensor, weight: Tensor, **options
) -> tuple[Tensor, ...]:
    leaves = [t.detach().clone().requires_grad_() for t in (upper, lower, weight)]
    total = pair_sum(surrogate, *leaves[:2], weight=leaves[2], method=method, **options)
    arriving = torch.linspace(-1, 2, max(1, total.numel()), dtype=total.dtype)[: total.numel()]
    gradients = torch.autograd.grad(
        total, leaves, arriving.reshape(total.shape), allow_unused=True, materialize_grads=True
    )
    return total.detach(), *gradients


def random_lists(*shapes: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    upper, lower = (3 * torch.randn(shape, dtype=torch.float64) for shape in shapes)
    return upper, lower, torch.randn_like(lower)


def assert_close(found: tuple[Tensor, ...], expected: tuple[Tensor, ...], rtol: float) -> None:
    for a, b in zip(found, expected, strict=True):
        size = float(b.abs().max()) if b.numel() else 0.0
        torch.testing.assert_close(a, b, rtol=rtol, atol=rtol * size)


@pytest.mark.parametrize("surrogate", SURROGATES, **ids)
@given(lists=pair_lists())
@settings(max_examples=60)
def test_equal_to_dense_forward_and_backward(surrogate, lists):
    found = with_gradients("compiled", surrogate, *lists)
    expected = with_gradients("dense", surrogate, *lists)
    names = ("value", "upper", "lower", "weight")
    for name, a, b in zip(names, found, expected, strict=True):
        # At a kink autograd may take either side.
        if surrogate in DIFFERENTIABLE or name in ("value", "weight"):
            torch.testing.assert_close(
                a, b, **tolerance(surrogate), msg=lambda m, n=name: f"{n}: {m}"
            )


@pytest.mark.parametrize("surrogate", SURROGATES, **ids)
@pytest.mark.parametrize("sizes", [(40, 300), (300, 40), (1, 500), (200, 200)])
def test_large_lists_and_kinks_off_the_ties(surrogate, sizes):
    torch.manual_seed(0)
    lists = random_lists(*((2, n) for n in sizes))
    found = with_gradients("compiled", surrogate, *lists)
    assert_close(found, with_gradients("dense", surrogate, *lists), 1e-7)


@pytest.mark.parametrize("surrogate", HIGHER, **ids)
@given(lists=pair_lists())
@settings(max_examples=60)
def test_powers_beyond_the_square_equal_dense(surrogate, lists):
    found = with_gradients("compiled", surrogate, *lists)
    expected = with_gradients("dense", surrogate, *lists)
    for a, b in zip(found, expected, strict=True):
        # Powers up to 16⁵ cancel in Quintic, whose tail is a polynomial for the whole line.
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-6)


@pytest.mark.parametrize("surrogate", HIGHER, **ids)
@pytest.mark.parametrize("sizes", [(40, 300), (300, 40)])
def test_powers_beyond_the_square_of_large_lists_and_groups(surrogate, sizes):
    torch.manual_seed(0)
    lists = random_lists(*((2, n) for n in sizes))
    found = with_gradients("compiled", surrogate, *lists)
    assert_close(found, with_gradients("dense", surrogate, *lists), 1e-11)
    lists, options = flat_lists(40)
    found = with_gradients("compiled", surrogate, *lists, **options)
    assert_close(found, with_gradients("dense", surrogate, *lists, **options), 1e-11)


@pytest.mark.parametrize("surrogate", [*DIFFERENTIABLE, Hinge(0.75), *HIGHER[:1]], **ids)
def test_gradcheck(surrogate):
    torch.manual_seed(1)
    leaves = [t.requires_grad_() for t in random_lists((2, 4), (2, 6))]
    assert torch.autograd.gradcheck(
        lambda u, l, w: pair_sum(surrogate, u, l, weight=w, method="compiled"), leaves, atol=1e-6
    )


@pytest.mark.parametrize("surrogate", SOME, **ids)
@given(lists=pair_lists(), shift=st.sampled_from([1e6, -1e6, 2.0**40]))
@settings(max_examples=25)
def test_a_shift_of_all_scores_changes_nothing(surrogate, lists, shift):
    upper, lower, weight = lists
    plain = with_gradients("compiled", surrogate, *lists)
    shifted = with_gradients("compiled", surrogate, upper + shift, lower + shift, weight)
    for a, b in zip(plain, shifted, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize(
    "surrogate", [s for s in SURROGATES if not isinstance(s, Exponential)], **ids
)
def test_huge_gaps_stay_finite(surrogate):
    upper = torch.tensor([-1e4, 0.0, 1e4, 1e8])
    lower, weight = torch.tensor([-1e8, -1e4, 0.0, 1e4]), torch.ones(4)
    found = with_gradients("compiled", surrogate, upper, lower, weight)
    assert all(bool(torch.isfinite(each).all()) for each in found)
    expected = with_gradients("dense", surrogate, upper, lower, weight)
    torch.testing.assert_close(found[0], expected[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("surrogate", SOME, **ids)
def test_lower_precision_is_summed_in_double(dtype, surrogate):
    torch.manual_seed(2)
    upper, lower = torch.randn(300).to(dtype), torch.randn(2, 5_000).to(dtype)
    weight = torch.rand(2, 5_000).to(dtype)
    found = with_gradients("compiled", surrogate, upper.expand(2, -1), lower, weight)
    assert found[0].dtype == torch.float32
    assert {t.dtype for t in found[1:]} == {dtype}
    precise = (t.double() for t in (upper.expand(2, -1), lower, weight))
    expected = with_gradients("dense", surrogate, *precise)
    torch.testing.assert_close(found[0].double(), expected[0], rtol=1e-6, atol=1e-4)
    rough = torch.finfo(dtype).eps
    assert_close(tuple(t.double() for t in found[1:]), expected[1:], max(2 * rough, 1e-6))


def test_scores_and_weights_of_different_precision():
    torch.manual_seed(3)
    upper, lower, weight = random_lists((3, 50), (3, 60))
    found = with_gradients("compiled", SOME[0], upper.float(), lower.float(), weight)
    expected = with_gradients("dense", SOME[0], upper.float(), lower.float(), weight)
    assert [t.dtype for t in found] == [t.dtype for t in expected]
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


def flat_lists(n_lists: int) -> tuple[tuple[Tensor, Tensor, Tensor], dict[str, Tensor]]:
    lengths = torch.randint(0, 9, (2, n_lists)) * torch.randint(0, 9, (2, n_lists))
    names = torch.randperm(3 * n_lists)[:n_lists] - n_lists
    groups = [names.repeat_interleave(n)[torch.randperm(int(n.sum()))] for n in lengths]
    lists = random_lists(*(g.shape for g in groups))
    mask = torch.rand(len(groups[1])) < 0.8
    return lists, dict(upper_groups=groups[0], lower_groups=groups[1], lower_mask=mask)


@pytest.mark.parametrize("surrogate", SURROGATES, **ids)
@pytest.mark.parametrize("spread", [1, 10**12])
def test_groups_equal_dense(surrogate, spread):
    torch.manual_seed(4)
    lists, options = flat_lists(40)
    for side in ("upper_groups", "lower_groups"):
        options[side] *= spread
    found = with_gradients("compiled", surrogate, *lists, **options)
    assert_close(found, with_gradients("dense", surrogate, *lists, **options), 1e-7)
    assert (found[2][~options["lower_mask"]] == 0).all()


def test_groups_that_lie_in_order_and_empty_sides():
    groups = torch.tensor([0, 0, 2, 5, 5, 5])
    lists = random_lists((6,), (6,))
    for upper, lower in ((groups, groups), (groups[:0], groups), (groups, groups[:0])):
        given = lists[0][: len(upper)], lists[1][: len(lower)], lists[2][: len(lower)]
        options = dict(upper_groups=upper, lower_groups=lower)
        found = with_gradients("compiled", SOME[0], *given, **options)
        assert_close(found, with_gradients("dense", SOME[0], *given, **options), 1e-12)


@pytest.mark.parametrize("surrogate", SOME, **ids)
@pytest.mark.parametrize(
    "shapes", [((1, 300), (1, 4_000)), ((1, 4_000), (1, 300)), ((60, 9), (60, 50))]
)
def test_threads_and_blocks_change_nothing(surrogate, shapes, monkeypatch):
    torch.manual_seed(5)
    lists = tuple(t.float() for t in random_lists(*shapes))
    expected = with_gradients("compiled", surrogate, *lists)
    monkeypatch.setattr("rankwise.pairs._compiled.plan._BLOCK", 500)
    monkeypatch.setattr("rankwise.pairs._compiled.plan._SHARED", 100)
    monkeypatch.setattr("torch.get_num_threads", lambda: 3)
    for kept in (1 << 24, 0):
        monkeypatch.setattr("rankwise.pairs._compiled.autograd._KEPT", kept)
        found = with_gradients("compiled", surrogate, *lists)
        for a, b in zip(found, expected, strict=True):
            torch.testing.assert_close(a, b, rtol=2e-6, atol=2e-6 * float(b.abs().max()))


def test_nothing_flows_where_nothing_is_asked():
    upper, lower, weight = random_lists((50,), (60,))
    upper.requires_grad_()
    pair_sum(SOME[0], upper, lower, method="compiled").sum().backward()
    weight.requires_grad_()
    pair_sum(SOME[0], upper.detach(), lower, weight=weight, method="compiled").sum().backward()
    expected = SOME[0].value(upper.detach()[:, None] - lower).sum(0)
    torch.testing.assert_close(weight.grad, expected)
    with torch.no_grad():
        assert not pair_sum(SOME[0], upper, lower, method="compiled").requires_grad


@pytest.mark.parametrize("surrogate", [OneSidedHuber(0.1), Sigmoid(1.0)], **ids)
def test_many_scores_equal_the_torch_engine(surrogate):
    torch.manual_seed(6)
    upper, lower = torch.randn(2_000) + 1, torch.randn(40_000)
    weight = torch.rand(40_000)
    found = with_gradients("auto", surrogate, upper, lower, weight)
    assert_close(found, with_gradients("exponential", surrogate, upper, lower, weight), 1e-6)
