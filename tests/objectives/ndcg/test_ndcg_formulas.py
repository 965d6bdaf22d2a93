"""Ranks, gains and shares of lists against the metric and against numbers by hand."""

from __future__ import annotations

import math

import pytest
import torch

from rankwise.lists import split_lists
from rankwise.objectives._selection import share_at_the_top
from rankwise.objectives.ndcg.ndcg import normalized_gains, surrogate_rank
from rankwise.pairs import Hinge, Logistic, Sigmoid, SquaredHinge, ZeroOne

SCORES = torch.tensor([[3.0, 1.0, 2.0, 0.0]])
TARGET = torch.tensor([[0, 2, 1, 0]])


def lists_of(scores=SCORES, target=TARGET, weight=None):
    return split_lists(scores, target, weight=weight, graded=True)


def test_with_the_zero_one_loss_it_is_the_rank():
    assert surrogate_rank(ZeroOne(), lists_of()).tolist() == [[3, 2]]


@pytest.mark.parametrize("surrogate", [SquaredHinge(2.0), Hinge(0.5), Sigmoid(1.0), Logistic(1.0)])
def test_the_item_itself_counts_as_one(surrogate):
    alone = lists_of(torch.tensor([[5.0]]), torch.tensor([[1]]))
    assert surrogate_rank(surrogate, alone).item() == pytest.approx(1)
    others = surrogate.value(torch.tensor([1.0 - 3, 1.0 - 2, 1.0 - 0])).sum()
    assert surrogate_rank(surrogate, lists_of())[0, 0].item() == pytest.approx(1 + others.item())


def test_copies_of_an_item_count_and_half_an_item_is_at_least_one():
    weight = torch.tensor([[1.0, 3.0, 1.0, 1.0]])
    assert surrogate_rank(ZeroOne(), lists_of(weight=weight)).tolist() == [[5, 2]]
    half = torch.tensor([[0.5, 0.5, 0.5, 0.5]])
    assert surrogate_rank(ZeroOne(), lists_of(weight=half)).tolist() == [[2, 1.5]]


def test_gains_over_the_best_discounted_gain_by_hand():
    best = 3 + 1 / math.log2(3)
    expected = torch.tensor([[3 / best, 1 / best, 0, 0]])
    torch.testing.assert_close(normalized_gains(lists_of(), "exponential"), expected)
    best = 2.0  # one rank only, where the gain is the relevance
    expected = torch.tensor([[2 / best, 1 / best, 0, 0]])
    torch.testing.assert_close(normalized_gains(lists_of(), "linear", 1), expected)


def test_large_relevances_keep_their_ratio_and_tiny_ones_give_no_gain():
    large = lists_of(target=torch.tensor([[0, 500, 499, 0]]))
    gains = normalized_gains(large, "exponential")
    torch.testing.assert_close(gains[0, 0] / gains[0, 1], torch.tensor(2.0))
    tiny = lists_of(target=torch.tensor([[0, 1e-30, 0, 0]]))
    assert normalized_gains(tiny, "exponential").tolist() == [[0, 0, 0, 0]]


def test_the_share_at_the_top_is_shared_by_ties():
    assert share_at_the_top(lists_of(), 2).tolist() == [[0, 1]]
    tied = lists_of(torch.tensor([[3.0, 2.0, 2.0, 2.0]]), TARGET)
    torch.testing.assert_close(share_at_the_top(tied, 2), torch.tensor([[1 / 3, 1 / 3]]))
    absent = lists_of(weight=torch.tensor([[0.0, 1.0, 0.0, 1.0]]))
    assert share_at_the_top(absent, 1).tolist() == [[1, 0]]
