"""The selections against items repeated by weight; the smooth one by sum, limit and gradient."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from rankwise.objectives._selection import between, gathered, hardest, soft_hardest, sum_of_hardest


def one_by_one(scores, weight, low, high, largest):
    """Half units of weight written out, ranked, and the ranks (low, high] counted by item.

    Tied items at a cut share it: the mean over the orders of the tied, here their total by weight.
    """
    units = [(s, i) for i, (s, w) in enumerate(zip(scores, weight, strict=True)) for _ in range(w)]
    units.sort(key=lambda unit: -unit[0] if largest else unit[0])
    chosen = units[low:high]
    part = []
    for s, w in zip(scores, weight, strict=True):
        tied = sum(unit[0] == s for unit in units)
        part.append(w * sum(unit[0] == s for unit in chosen) / tied if tied else 0.0)
    return torch.tensor(part, dtype=torch.float64)


ITEMS = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3)), min_size=1, max_size=12)


@given(items=ITEMS, low=st.integers(0, 10), width=st.integers(0, 12), largest=st.booleans())
@settings(max_examples=100)
def test_parts_equal_units_counted_one_by_one(items, low, width, largest):
    scores, weight = zip(*items, strict=True)
    expected = one_by_one(scores, weight, low, low + width, largest)
    given_scores = torch.tensor([scores], dtype=torch.float64)
    # Half units: the cut goes through the middle of a weight of 1.
    half = torch.tensor([weight], dtype=torch.float64) / 2
    part = between(given_scores, half, low / 2, (low + width) / 2, largest)
    torch.testing.assert_close(part[0], expected / 2)


def test_the_first_two_and_a_half():
    scores = torch.tensor([[0.0, 3.0, 1.0, 2.0]])
    ones = torch.ones(1, 4)
    assert hardest(scores, ones, 2.5).tolist() == [[0.0, 1.0, 0.5, 1.0]]
    assert hardest(scores, ones, 2.5, largest=False).tolist() == [[1.0, 0.0, 1.0, 0.5]]
    assert between(scores, ones, 1.0, 2.5).tolist() == [[0.0, 0.0, 0.5, 1.0]]
    assert hardest(scores, torch.tensor([[1.0, 2.0, 1.0, 1.0]]), 2).tolist() == [[0, 2, 0, 0]]


def test_ties_share_the_cut_in_proportion_to_their_weights():
    scores, weight = torch.tensor([[5.0, 1.0, 1.0, 0.0]]), torch.tensor([[1.0, 1.0, 3.0, 1.0]])
    assert hardest(scores, weight, 3).tolist() == [[1.0, 0.5, 1.5, 0.0]]


def test_every_list_has_its_own_mass_and_padding_takes_no_part():
    scores = torch.tensor([[1.0, 2.0, 3.0], [9.0, 9.0, 4.0]])
    weight = torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    mass = torch.tensor([[1.0], [2.0]])
    assert hardest(scores, weight, mass).tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    assert hardest(scores, weight, 100.0).tolist() == weight.tolist()
    assert hardest(scores, torch.zeros(2, 3), 2.0).tolist() == torch.zeros(2, 3).tolist()


def test_what_is_taken_whole_keeps_its_weight_to_the_last_digit():
    torch.manual_seed(0)
    scores = torch.randint(0, 20, (5, 200)).double()
    weight = torch.rand(5, 200, dtype=torch.float64)
    part = hardest(scores, weight, 40.0)
    whole = part == weight
    torch.testing.assert_close(part.sum(-1), torch.full((5,), 40.0, dtype=torch.float64))
    for row in range(5):
        partial_levels = scores[row][(part[row] > 0) & ~whole[row]].unique()
        assert len(partial_levels) == 1


def test_permuting_the_items_permutes_their_parts():
    torch.manual_seed(1)
    scores, weight = torch.randint(0, 4, (3, 30)).double(), torch.rand(3, 30).double()
    order = torch.randperm(30)
    part = between(scores, weight, 2.5, 7.0)
    torch.testing.assert_close(
        between(scores[:, order], weight[:, order], 2.5, 7.0), part[:, order]
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_no_gradient_and_the_dtype_of_the_weight(dtype):
    scores = torch.randn(2, 5).to(dtype).requires_grad_()
    part = hardest(scores, torch.ones(2, 5), 2)
    assert part.dtype == torch.float32
    assert not part.requires_grad


def test_nothing_to_choose_from():
    assert hardest(torch.zeros(2, 0), torch.zeros(2, 0), 3).shape == (2, 0)
    scores, parts = gathered(torch.zeros(0, 4), torch.zeros(0, 4))
    assert scores.shape == parts.shape == (0, 0)


def test_gathered_keeps_the_chosen_and_their_gradient():
    scores = torch.tensor([[4.0, 1.0, 3.0, 2.0], [1.0, 2.0, 3.0, 4.0]], requires_grad=True)
    part = torch.tensor([[1.0, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]])
    chosen, parts = gathered(scores, part)
    assert chosen.shape == (2, 2)
    assert (chosen * parts).sum(-1).tolist() == [5.5, 4.0]
    (gradient,) = torch.autograd.grad((chosen * parts).sum(), scores)
    assert torch.equal(gradient, part)


@pytest.mark.parametrize("largest", [True, False])
def test_sums_at_many_masses_equal_the_selections_one_by_one(largest):
    torch.manual_seed(2)
    scores, weight = torch.randint(0, 9, (4, 25)).double(), torch.rand(4, 25).double()
    weight[:, ::5] = 0
    masses = torch.cat([torch.arange(1.0, 8), torch.tensor([0.3, 99.0])]).double().expand(4, 9)
    expected = [(hardest(scores, weight, m[:, None], largest) * scores).sum(-1) for m in masses.T]
    sums = sum_of_hardest(scores, weight, masses, largest)
    torch.testing.assert_close(sums, torch.stack(expected, dim=-1))


def test_a_wrong_shape_is_named():
    with pytest.raises(ValueError, match=r"weight \(1, 3\) and scores \(1, 4\)"):
        hardest(torch.zeros(1, 4), torch.zeros(1, 3), 1)


def lists(seed: int = 0, rows: int = 4, n: int = 30) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(rows, n, dtype=torch.float64, generator=generator)
    return scores, torch.randint(0, 3, (rows, n), generator=generator).double()


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.floats(0.05, 0.95),
    st.sampled_from([1e-6, 1e-3, 0.3, 10.0, 1e5]),
    st.sampled_from([1e-8, 1.0, 1e6]),
)
@example(294780, 0.05, 1e5, 1e-8)  # a share one unit in the last place below that of a lower score
def test_the_shares_add_up_to_the_mass(seed, part, temperature, size):
    assume(size / temperature <= 1e8)  # beyond it the scores themselves are not known to T
    scores, weight = lists(seed)
    mass = part * weight.sum(-1, keepdim=True)
    share = soft_hardest(size * scores, weight, mass, temperature)
    assert ((share >= 0) & (share <= 1)).all()
    torch.testing.assert_close((weight * share).sum(-1, keepdim=True), mass, rtol=1e-6, atol=1e-6)
    order = scores.argsort(dim=-1)
    # Scores that are nearly equal beside T: the sigmoid is rounded, and not always upwards.
    rounding = torch.finfo(torch.float64).eps
    assert (share.gather(-1, order).diff(dim=-1) >= -rounding).all()


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


def test_the_gradient_is_the_same_where_all_weights_are_small():
    scores, weight = lists()
    scores.requires_grad_()
    slopes = [
        torch.autograd.grad(
            soft_hardest(scores, size * weight, size * 9.0, 0.2)[:, 0].sum(), scores
        )
        for size in (1.0, 1e-3)
    ]
    torch.testing.assert_close(*slopes)


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
