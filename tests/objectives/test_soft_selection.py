"""The smooth choice of the highest so many: its sum, its limit, its gradient."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from rankwise.objectives.selection import hardest
from rankwise.objectives.soft_selection import soft_hardest


def lists(seed: int = 0, rows: int = 4, n: int = 30) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(rows, n, dtype=torch.float64, generator=generator)
    return scores, torch.randint(0, 3, (rows, n), generator=generator).double()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.floats(0.05, 0.95),
    st.sampled_from([1e-6, 1e-3, 0.3, 10.0, 1e5]),
    st.sampled_from([1e-8, 1.0, 1e6]),
)
def test_the_shares_add_up_to_the_mass(seed, part, temperature, size):
    assume(size / temperature <= 1e8)  # beyond it the scores themselves are not known to T
    scores, weight = lists(seed)
    mass = part * weight.sum(-1, keepdim=True)
    share = soft_hardest(size * scores, weight, mass, temperature)
    assert ((share >= 0) & (share <= 1)).all()
    torch.testing.assert_close((weight * share).sum(-1, keepdim=True), mass, rtol=1e-6, atol=1e-6)
    order = scores.argsort(dim=-1)
    assert (share.gather(-1, order).diff(dim=-1) >= 0).all()


def test_cold_it_is_the_hard_choice_and_ties_share():
    scores = torch.tensor([[3.0, 1.0, 1.0, 0.0, 2.0]], dtype=torch.float64)
    weight = torch.tensor([[1.0, 1.0, 1.0, 2.0, 1.0]], dtype=torch.float64)
    for mass in (1.0, 2.0, 3.0, 4.5):
        share = soft_hardest(scores, weight, mass, 1e-4)
        torch.testing.assert_close(weight * share, hardest(scores, weight, mass), atol=1e-9, rtol=0)


def test_hot_all_items_have_the_same_share():
    scores, weight = lists()
    share = soft_hardest(scores, torch.ones_like(weight), 12, 1e6)
    torch.testing.assert_close(share, torch.full_like(share, 12 / 30), atol=1e-5, rtol=0)


def test_a_list_that_has_no_more_is_taken_whole_without_a_gradient():
    scores, weight = lists()
    weight[1] = 0
    scores.requires_grad_()
    share = soft_hardest(scores, weight, weight.sum(-1, keepdim=True), 0.3)
    assert (share == 1).all()
    (slope,) = torch.autograd.grad(share.sum(), scores)
    assert (slope == 0).all()


def test_items_of_weight_0_are_not_there():
    scores, weight = lists()
    keep = weight[0] > 0
    whole = soft_hardest(scores[:1], weight[:1], 9.0, 0.2)[:, keep]
    torch.testing.assert_close(
        whole, soft_hardest(scores[:1, keep], weight[:1, keep], 9.0, 0.2), atol=1e-9, rtol=0
    )


@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_gradient_by_differences(temperature):
    scores, weight = lists(rows=2, n=8)
    mass = weight.sum(-1, keepdim=True) * 0.4
    assert torch.autograd.gradcheck(
        lambda s: soft_hardest(s, weight, mass, temperature), scores.requires_grad_()
    )


def test_the_gradient_moves_mass_and_makes_none():
    scores, weight = lists()
    scores.requires_grad_()
    share = soft_hardest(scores, weight, 7.0, 0.3)
    (of_the_sum,) = torch.autograd.grad((weight * share).sum(), scores, retain_graph=True)
    torch.testing.assert_close(of_the_sum, torch.zeros_like(scores), atol=1e-9, rtol=0)
    (of_one,) = torch.autograd.grad(share[0, 3], scores)
    assert of_one[0, 3] > 0
    assert float(of_one.sum()) == pytest.approx(0, abs=1e-9)  # a shift changes nothing


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_far_scores_and_half_precision_are_finite(dtype):
    scores = torch.tensor([[3e4, -3e4, 0, 3e4, 1]], dtype=dtype, requires_grad=True)
    share = soft_hardest(scores, torch.ones(1, 5), 2.5, 1e-3)
    (slope,) = torch.autograd.grad(share[0, :3].sum(), scores)
    assert share.dtype == dtype
    assert share.isfinite().all()
    assert slope.isfinite().all()
