from __future__ import annotations

import math
from itertools import permutations

import pytest
import torch

from rankwise.baselines.listwise import ApproxNDCG, LambdaLoss, ListMLE
from rankwise.metrics import ndcg


def test_by_hand():
    scores, target = torch.tensor([0.0, math.log(2), math.log(3)]), torch.tensor([1, 2, 0])
    likelihood = 2 / 6 * 1 / 4  # odds 2 first of 2, 1, 3, then 1 of 1, 3
    assert ListMLE()(scores, target).item() == pytest.approx(-math.log(likelihood), rel=1e-6)


def test_equal_relevances_take_the_most_likely_order():
    torch.manual_seed(0)
    scores, target = torch.randn(6, dtype=torch.float64), torch.tensor([1, 1, 2, 0, 1, 0])

    def surprise(order):
        ordered = scores[list(order)]
        return float(sum(ordered[r:].logsumexp(0) - ordered[r] for r in range(6)))

    right = [p for p in permutations(range(6)) if target[list(p)].diff().le(0).all()]
    value = float(ListMLE()(scores, target))
    assert value == pytest.approx(min(map(surprise, right)), rel=1e-12)


def test_tied_items_have_equal_gradients_in_any_order_of_the_input():
    scores = torch.zeros(5, requires_grad=True)
    target = torch.tensor([1, 0, 1, 0, 0])
    value = ListMLE()(scores, target)
    assert value.item() == pytest.approx(math.log(120), rel=1e-6)
    (gradient,) = torch.autograd.grad(value, scores)
    for y in (0, 1):
        assert gradient[target == y].unique().numel() == 1
    assert gradient[0] < 0 < gradient[1]


def test_an_item_of_weight_two_counts_twice_in_every_sum():
    scores, target = torch.tensor([0.0, 1.0]), torch.tensor([1, 0])
    weight = torch.tensor([2.0, 3.0])
    expected = 2 * math.log(2 + 3 * math.e) + 3 * (math.log(3 * math.e) - 1)
    assert ListMLE()(scores, target, weight=weight).item() == pytest.approx(expected, rel=1e-6)


def test_approx_ndcg_by_hand():
    scores, target = torch.tensor([0.0, math.log(3)]), torch.tensor([1, 0])
    value = ApproxNDCG(temperature=1.0)(scores, target)
    assert value.item() == pytest.approx(1 - 1 / math.log2(2 + 3 / 4), rel=1e-6)


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_it_is_the_metric_in_the_limit(gain):
    torch.manual_seed(0)
    scores, target = torch.randn(5, 20, dtype=torch.float64), torch.randint(0, 4, (5, 20))
    value = ApproxNDCG(1e-5, gain)(scores, target)
    torch.testing.assert_close(value, 1 - ndcg(scores, target, gain=gain), rtol=1e-4, atol=1e-5)


def test_a_bad_temperature_is_named():
    with pytest.raises(ValueError, match="temperature must be a finite number > 0, got 0"):
        ApproxNDCG(0.0)


def test_two_items_by_hand():
    scores, target = torch.tensor([0.0, math.log(3)]), torch.tensor([1, 0])
    swap = 1 - 1 / math.log2(3)  # ρ and δ alike: ranks 1 and 2 are one apart
    expected = (swap + 10 * swap) * math.log2(1 + 3)
    assert LambdaLoss()(scores, target).item() == pytest.approx(expected, rel=1e-6)
    assert LambdaLoss(mu=0.0)(scores, target).item() == pytest.approx(swap * 2, rel=1e-6)


def test_two_tied_items_have_ranks_1_and_2_in_either_order():
    value = LambdaLoss()(torch.zeros(2), torch.tensor([1, 0]))
    # ρ = δ = 1/D(1) − 1/D(2), and log₂(1 + e⁰) = 1.
    assert value.item() == pytest.approx((1 + 10) * (1 - 1 / math.log2(3)), rel=1e-6)


def test_the_part_of_the_bound_is_one():
    """With μ → ∞ only δ is left: NDCG-Loss2, an upper bound of 1 − NDCG."""
    torch.manual_seed(0)
    scores, target = torch.randn(50, 12, dtype=torch.float64), torch.randint(0, 5, (50, 12))
    for s, t in zip(scores, target, strict=True):
        bound = LambdaLoss(mu=1e9)(s, t) / 1e9
        assert float(bound) >= 1 - float(ndcg(s, t)) - 1e-9


@pytest.mark.parametrize("k", [None, 1, 4])
def test_whole_weights_are_copies(k):
    torch.manual_seed(1)
    scores = torch.randn(12, dtype=torch.float64, requires_grad=True)
    target, weight = torch.randint(0, 4, (12,)), torch.randint(0, 4, (12,))
    copies = torch.repeat_interleave(torch.arange(12), weight)
    loss = LambdaLoss(k)
    value = loss(scores, target, weight=weight.double())
    expected = loss(scores[copies], target[copies])
    torch.testing.assert_close(value, expected)
    (a,), (b,) = torch.autograd.grad(value, scores), torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b)


@pytest.mark.parametrize("chunk", [1, 30, 200])
def test_chunks_change_nothing(chunk, monkeypatch):
    torch.manual_seed(2)
    scores = torch.randn(4, 8, dtype=torch.float64, requires_grad=True)
    target = torch.randint(0, 4, (4, 8))
    value = LambdaLoss(3)(scores, target)
    (expected,) = torch.autograd.grad(value, scores)
    monkeypatch.setattr("rankwise.baselines.listwise._CHUNK", chunk)
    again = LambdaLoss(3)(scores, target)
    (gradient,) = torch.autograd.grad(again, scores)
    torch.testing.assert_close(again, value)
    torch.testing.assert_close(gradient, expected)


def test_beyond_k_nothing_pulls():
    scores = torch.tensor([3.0, 2.0, 1.0, 0.0], requires_grad=True)
    target = torch.tensor([1, 1, 0, 2])
    (gradient,) = torch.autograd.grad(LambdaLoss(1)(scores, target), scores)
    assert gradient[1] == 0  # its only pairs would be with the third and the fourth
    assert gradient[3] < 0 < gradient[0]


def test_bad_options_are_named():
    with pytest.raises(ValueError, match="k must be a whole number >= 1, got 0"):
        LambdaLoss(0)
    with pytest.raises(ValueError, match="sigma must be a finite number > 0, got -1"):
        LambdaLoss(sigma=-1.0)
    with pytest.raises(ValueError, match="mu must be a finite number >= 0, got -1"):
        LambdaLoss(mu=-1.0)
    with pytest.raises(ValueError, match="gain must be one of"):
        LambdaLoss(gain="log")
