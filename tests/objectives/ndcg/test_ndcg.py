"""NDCG as a loss: its bound, its copies, what it follows, and parts of lists."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.metrics import ndcg
from rankwise.objectives.listwise import ListNet
from rankwise.objectives.ndcg import NDCG
from rankwise.pairs import Exponential, Hinge, OneSidedHuber, SquaredHinge, ZeroOne

LIST = st.lists(st.tuples(st.integers(-8, 8), st.integers(0, 4)), min_size=2, max_size=20).filter(
    lambda items: len({y for _, y in items}) > 1
)


def tensors(items):
    scores, target = zip(*items, strict=True)
    return torch.tensor(scores).double() / 4, torch.tensor(target)


def test_by_hand():
    scores = torch.tensor([1.0, 0.5, 0.0], dtype=torch.float64)
    target = torch.tensor([0, 2, 1])
    g = [1 + 1.5**2 + 0.5**2, 1 + 2.0**2 + 1.5**2]  # (1 − x)₊² of x = −½, ½ and −1, −½
    best = 3 + 1 / math.log2(3)
    expected = 1 - (3 / math.log2(1 + g[0]) + 1 / math.log2(1 + g[1])) / best
    value = NDCG(surrogate=SquaredHinge(1.0))(scores, target)
    assert value.item() == pytest.approx(expected, rel=1e-12)


@given(items=LIST, k=st.sampled_from([None, 1, 3]), gain=st.sampled_from(["exponential", "linear"]))
@settings(max_examples=40)
@pytest.mark.parametrize("surrogate", [SquaredHinge(1.0), Hinge(1.0), OneSidedHuber(0.5)])
def test_it_bounds_the_metric_where_the_surrogate_bounds_the_step(surrogate, items, k, gain):
    scores, target = tensors(items)
    loss = NDCG(k, surrogate, gain)(scores, target)
    assert float(loss) >= 1 - float(ndcg(scores, target, k=k, gain=gain)) - 1e-12


@pytest.mark.parametrize("k", [None, 1, 5, 100])
@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_with_the_zero_one_loss_it_is_the_metric(k, gain):
    torch.manual_seed(0)
    scores, target = torch.randn(4, 30, dtype=torch.float64), torch.randint(0, 5, (4, 30))
    value = NDCG(k, ZeroOne(), gain)(scores, target)
    torch.testing.assert_close(value, 1 - ndcg(scores, target, k=k, gain=gain))


@pytest.mark.parametrize("k", [None, 1, 2, 7])
def test_whole_weights_are_copies(k):
    torch.manual_seed(1)
    scores = torch.randn(12, dtype=torch.float64, requires_grad=True)
    target, weight = torch.randint(0, 4, (12,)), torch.randint(0, 4, (12,))
    weight[scores.argmax()] = 3  # across the cut for k = 1 and k = 2
    copies = torch.repeat_interleave(torch.arange(12), weight)
    loss = NDCG(k)
    value, expected = (
        loss(scores, target, weight=weight.double()),
        loss(scores[copies], target[copies]),
    )
    torch.testing.assert_close(value, expected)
    (a,), (b,) = torch.autograd.grad(value, scores), torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b)


def test_only_the_top_k_pull_and_a_tied_list_still_learns():
    scores = torch.tensor([2.0, 1.0, 0.0, -1.0], requires_grad=True)
    target = torch.tensor([0, 1, 0, 1])
    value = NDCG(2, OneSidedHuber(0.5))(scores, target)
    (gradient,) = torch.autograd.grad(value, scores)
    assert gradient[1] < 0
    assert gradient[3] == 0
    tied = torch.zeros(4, requires_grad=True)
    (gradient,) = torch.autograd.grad(NDCG(1)(tied, target), tied)
    assert (gradient[target == 1] < 0).all()


def test_two_steps_of_the_followed_rank_by_hand():
    torch.manual_seed(0)
    target, item_ids = torch.tensor([2, 0, 1, 0, 0]), torch.arange(5) + 3
    first = torch.randn(5, dtype=torch.float64, requires_grad=True)
    second = torch.randn(5, dtype=torch.float64, requires_grad=True)
    loss = NDCG(surrogate=SquaredHinge(1.0), num_items=9, ema_rate=0.25)
    loss(first, target, item_ids=item_ids)
    value = loss(second, target, item_ids=item_ids)

    def ranks(scores):
        return SquaredHinge(1.0).value(scores[:, None] - scores).sum(1)[[0, 2]]

    g = ranks(second)
    u = (0.75 * ranks(first) + 0.25 * g).detach()
    gains = torch.tensor([3.0, 1.0]) / (3 + 1 / math.log2(3))
    expected = 1 - (gains / torch.log2(1 + u)).sum()
    torch.testing.assert_close(value, expected, rtol=1e-6, atol=1e-7, check_dtype=False)
    slope = gains / (torch.log2(1 + u) ** 2 * (1 + u) * math.log(2))
    (gradient,) = torch.autograd.grad(value, second)
    (by_hand,) = torch.autograd.grad((slope * g).sum(), second)
    torch.testing.assert_close(gradient, by_hand, rtol=1e-5, atol=1e-7)
    assert loss.average.seen.nonzero().flatten().tolist() == [3, 5]


def test_the_share_in_the_top_k_is_followed_too():
    target, item_ids = torch.tensor([1, 0, 0]), torch.arange(3)
    loss = NDCG(1, num_items=3, ema_rate=0.25)
    loss(torch.tensor([1.0, 0.0, -1.0], requires_grad=True), target, item_ids=item_ids)
    below = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    value = loss(below, target, item_ids=item_ids)
    rank, share = loss.average.value[0].tolist()
    assert share == 0.75
    assert value.item() == pytest.approx(1 - 0.75 / math.log2(1 + rank))
    assert value.requires_grad


def test_the_rank_in_a_part_of_a_list_is_that_in_the_whole_on_average():
    torch.manual_seed(0)
    n, shown, draws = 400, 20, 600
    scores = torch.randn(n, dtype=torch.float64, requires_grad=True)
    others = torch.rand(draws, n - 1).argsort(-1)[:, : shown - 1] + 1
    rows = torch.cat([torch.zeros(draws, 1, dtype=torch.long), others], dim=1)
    target = (rows == 0).long()  # the first item is the relevant one
    loss = NDCG(surrogate=ZeroOne(), num_items=draws, length=n)
    loss(scores[rows], target, item_ids=torch.arange(draws).unsqueeze(1).expand_as(rows))
    ranks = loss.average.value[:, 0]
    whole = 1 + int((scores > scores[0]).sum())
    assert abs(float(ranks.mean()) - whole) < 4 * float(ranks.std()) / math.sqrt(draws)


def test_the_whole_list_needs_no_scaling_and_the_top_of_a_part_keeps_one_item():
    torch.manual_seed(0)
    scores, target = torch.randn(3, 10), torch.randint(0, 3, (3, 10))
    for k in (None, 4):
        torch.testing.assert_close(NDCG(k, length=10)(scores, target), NDCG(k)(scores, target))
    part = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    top = NDCG(1, SquaredHinge(1.0), length=300)(part, torch.tensor([0, 0, 1]))
    assert top.item() < 1
    (gradient,) = torch.autograd.grad(
        NDCG(1, SquaredHinge(2.0), length=300)(part, torch.tensor([0, 0, 1])), part
    )
    assert gradient[2] < 0


def test_as_printed_the_item_itself_is_the_loss_of_a_tie():
    scores, target = torch.zeros(2, dtype=torch.float64), torch.tensor([1, 0])
    value = NDCG(printed=True)(scores, target).item()
    assert value == pytest.approx(1 - 1 / math.log2(1 + 2 * math.log(2)))
    assert round(value, 3) == 0.203
    value = NDCG()(scores, target).item()
    assert value == pytest.approx(1 - 1 / math.log2(2 + math.log(2)))
    assert round(value, 3) == 0.300


def test_as_printed_it_is_the_default_where_a_tie_costs_one_and_may_be_negative_elsewhere():
    torch.manual_seed(0)
    scores, target = torch.randn(3, 20, dtype=torch.float64), torch.randint(0, 4, (3, 20))
    for surrogate in (SquaredHinge(1.0), OneSidedHuber(0.5)):
        printed = NDCG(surrogate=surrogate, printed=True)(scores, target)
        torch.testing.assert_close(printed, NDCG(surrogate=surrogate)(scores, target))
    good = NDCG(printed=True)(torch.tensor([50.0, -50.0]), torch.tensor([1, 0]))
    assert good.item() == pytest.approx(1 - 1 / math.log2(1 + math.log(2)), rel=1e-5)
    assert good < 0


def test_as_printed_copies_and_parts_of_lists_count_the_item_as_the_loss_of_a_tie():
    torch.manual_seed(1)
    scores, target = torch.randn(12, dtype=torch.float64), torch.randint(0, 4, (12,))
    weight = torch.randint(1, 4, (12,))
    copies = torch.repeat_interleave(torch.arange(12), weight)
    loss = NDCG(printed=True)
    by_weight = loss(scores, target, weight=weight.double())
    torch.testing.assert_close(by_weight, loss(scores[copies], target[copies]))
    torch.testing.assert_close(NDCG(printed=True, length=12)(scores, target), loss(scores, target))
    # Two items for a list of three: the other item stands for two of them.
    part = NDCG(printed=True, length=3)(torch.zeros(2).double(), torch.tensor([1, 0]))
    gain = 1.5 / (1 + 0.5 / math.log2(3))  # 1½ relevant items over the best ranks 1 and ½ of 2
    assert part.item() == pytest.approx(1 - gain / math.log2(1 + 3 * math.log(2)))


def test_bad_options_are_named():
    with pytest.raises(ValueError, match="k must be a whole number >= 1, got 0"):
        NDCG(0)
    with pytest.raises(ValueError, match="gain must be one of 'exponential', 'linear', got 'log'"):
        NDCG(gain="log")
    with pytest.raises(ValueError, match="items must be a whole number"):
        NDCG(num_items=2.5)
    with pytest.raises(ValueError, match=r"length must be the number .* got 5 and a list of 6"):
        NDCG(length=5)(torch.randn(6), torch.arange(6) % 3)


def test_a_cold_soft_cut_is_the_hard_one():
    torch.manual_seed(0)
    scores, target = torch.randn(4, 30, dtype=torch.float64), torch.randint(0, 3, (4, 30))
    hard, soft = NDCG(5)(scores, target), NDCG(5, softness=1e-6)(scores, target)
    torch.testing.assert_close(soft, hard, rtol=0, atol=1e-3)


def test_a_soft_cut_pulls_up_what_is_below_it():
    scores = torch.tensor([3.0, 2.0, 1.0, 0.0], dtype=torch.float64, requires_grad=True)
    target = torch.tensor([0, 0, 1, 0])
    (hard,) = torch.autograd.grad(NDCG(2)(scores, target), scores)
    (soft,) = torch.autograd.grad(NDCG(2, softness=0.5)(scores, target), scores)
    assert (hard == 0).all()
    assert soft[2] < 0 < soft[1]


def test_a_soft_cut_of_parts_of_lists_and_with_a_memory():
    """Of the whole list a part says the same, and what is followed begins as what is seen."""
    torch.manual_seed(1)
    scores, target = torch.randn(1, 20, dtype=torch.float64), torch.randint(0, 3, (1, 20))
    once = NDCG(4, softness=0.3)(scores, target)
    followed = NDCG(4, softness=0.3, num_items=20)(scores, target, item_ids=torch.arange(20)[None])
    torch.testing.assert_close(followed.double(), once, rtol=1e-5, atol=1e-6)
    whole = NDCG(4, softness=0.3, length=20)(scores, target)
    torch.testing.assert_close(whole, once)


@pytest.mark.parametrize("softness", [0, -1.0, math.inf])
def test_a_softness_is_above_0(softness):
    with pytest.raises(ValueError, match="softness must be a finite number > 0"):
        NDCG(3, softness=softness)


@given(items=LIST, gain=st.sampled_from(["exponential", "linear"]))
@settings(max_examples=40)
def test_its_logarithm_is_between_that_of_the_metric_and_a_softmax(items, gain):
    scores, target = tensors(items)
    value = NDCG(surrogate="exponential", gain=gain, outer="log")(scores, target)
    assert value >= -math.log(ndcg(scores, target, gain=gain)) - 1e-9
    binary = (target > 0).long()
    if binary.min() == 0:
        value = NDCG(surrogate="exponential", outer="log")(scores, binary)
        constant = math.log(best(int(binary.sum())) / int(binary.sum()))
        assert value - constant <= ListNet("uniform")(scores, binary) + 1e-9


def best(n):
    """The discounted gain of n relevant items at the top."""
    return sum(1 / math.log2(1 + rank) for rank in range(1, n + 1))


def test_relevant_items_of_their_own_lists_are_the_same_as_each_alone():
    scores = torch.tensor([0.3, -0.4, 0.9, 0.1], dtype=torch.float64)
    together = NDCG(surrogate=Exponential(4.0), competitors="negatives")
    values = []
    for i in (0, 1):
        rank = 1 + sum(math.exp(4 * (float(scores[j]) - float(scores[i]))) for j in (2, 3))
        values.append(1 - 1 / math.log2(1 + rank))
    value = together(scores, torch.tensor([1, 1, 0, 0]))
    assert value.item() == pytest.approx(sum(values) / 2, rel=1e-12)


def test_exponentials_of_large_scores_are_finite():
    scores = torch.tensor([-1e4, 1e4, 0.0], requires_grad=True)
    value = NDCG(surrogate="exponential", competitors="negatives")(scores, torch.tensor([1, 0, 0]))
    value.backward()
    assert value.item() == pytest.approx(1 - math.log(2) / 2e4)
    assert bool(scores.grad.isfinite().all())
    assert scores.grad[0] < 0


def test_the_logarithm_takes_no_k():
    with pytest.raises(ValueError, match="k must be None with outer='log', got k=3"):
        NDCG(3, outer="log")
