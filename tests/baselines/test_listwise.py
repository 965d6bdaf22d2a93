from __future__ import annotations

import math
from itertools import permutations

import pytest
import torch

from rankwise.baselines.listwise import ApproxNDCG, ListMLE
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
