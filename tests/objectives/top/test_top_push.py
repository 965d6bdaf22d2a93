"""TopPush by hand: what it bounds, ties at the top, and what is absent."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.objectives.top import TopPush
from rankwise.pairs import Hinge, ZeroOne


def test_by_hand():
    scores = torch.tensor([2.0, 0.5, 1.0, -3.0])
    target = torch.tensor([1, 1, 0, 0])
    assert float(TopPush()(scores, target)) == ((1 - 1) ** 2 + (1 + 0.5) ** 2) / 2
    assert float(TopPush(Hinge(2.0))(scores, target)) == ((2 - 1) + (2 + 0.5)) / 2


SCORES = st.lists(st.integers(-6, 6).map(lambda i: i / 4), min_size=1, max_size=8)


@given(positives=SCORES, negatives=SCORES)
@settings(max_examples=50)
def test_it_bounds_the_share_of_positives_below_some_negative(positives, negatives):
    scores = torch.tensor([*positives, *negatives], dtype=torch.float64)
    target = torch.arange(len(scores)) < len(positives)
    share = sum(p <= max(negatives) for p in positives) / len(positives)
    assert float(TopPush(ZeroOne())(scores, target)) == share
    assert float(TopPush()(scores, target)) >= share


def test_negatives_tied_at_the_top_share_the_gradient_evenly():
    scores = torch.tensor([0.0, 1.0, 1.0, 0.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(TopPush()(scores, torch.tensor([1, 0, 0, 0])), scores)
    assert gradient.tolist() == [-4.0, 2.0, 2.0, 0.0]  # 2(1 − s⁺ + s⁻), half to each


def test_a_high_negative_of_weight_zero_is_not_the_top():
    scores, target = torch.tensor([2.0, 9.0, 1.5]), torch.tensor([1, 0, 0])
    weight = torch.tensor([1.0, 0.0, 1.0])
    assert float(TopPush()(scores, target, weight=weight)) == 0.25


def test_weights_of_positives_count():
    scores, target = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([1, 1, 0])
    weight = torch.tensor([1.0, 3.0, 0.1])
    assert float(TopPush()(scores, target, weight=weight)) == (1 * 0 + 3 * 1) / 4
