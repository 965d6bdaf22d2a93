"""The formulas by hand on a list small enough to write out."""

from __future__ import annotations

import pytest
import torch

from rankwise.lists import split_lists
from rankwise.objectives.ap.formulas import (
    false_positive_rate,
    precision_loss,
    rate_among_positives,
    saturating,
    semi_variance,
    stable_weights,
    true_positive_rate,
)
from rankwise.pairs import OneSidedHuber, Sigmoid, ZeroOne

LISTS = split_lists(
    torch.tensor([[3.0, 2.0, 1.0, 0.0]], dtype=torch.float64), torch.tensor([[1, 0, 1, 0]])
)


def test_rates_with_the_zero_one_loss_are_the_counts():
    assert false_positive_rate(ZeroOne(), LISTS).tolist() == [[0, 1 / 2]]
    assert true_positive_rate(ZeroOne(), LISTS).tolist() == [[1 / 2, 1]]


def test_the_rate_among_two_positives_is_the_pair_alone():
    assert rate_among_positives(ZeroOne(), LISTS).tolist() == [[0, 1]]


def test_the_item_itself_counts_once_whatever_the_surrogate_says_at_zero():
    found = true_positive_rate(Sigmoid(100.0), LISTS)
    assert found[0].tolist() == pytest.approx([1 / 2, 2 / 2])


def test_semi_variance():
    # positives 3 and 1, mean 2: one below by 1; negatives 2 and 0, mean 1: one above by 1
    assert semi_variance(LISTS, 1.0, 5.0).tolist() == [1 / 2 + 5 / 2]


def test_saturating():
    assert saturating(torch.tensor([0.0, 1.0, 3.0])).tolist() == [0, 0.5, 0.75]


def test_stable_weights_fall_from_the_mean_down():
    huber = OneSidedHuber(1.0)  # largest value for differences up to 2: 1 + 2·2 = 5
    weights = stable_weights(huber, torch.tensor([2.0, 0.0, -2.0, -9.0]), 2.0, 0.1, 2.0)
    expected = [(1.1 / 0.1) ** 2, (1.1 / (1 / 5 + 0.1)) ** 2, 1.0, 1.0]
    assert weights.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("power", [1.0, 0.5, 1e-3])
def test_the_precision_loss_is_one_less_a_power_of_the_precision(power):
    x = torch.tensor([0.0, 0.1, 1.0, 1e6], dtype=torch.float64)
    expected = (1 - (1 / (1 + x)) ** power) / power
    torch.testing.assert_close(precision_loss(x, power), expected, atol=1e-12, rtol=1e-9)


def test_the_precision_loss_with_power_0_is_the_limit():
    x = torch.tensor([0.0, 0.1, 1.0, 1e6], dtype=torch.float64)
    torch.testing.assert_close(precision_loss(x, 0.0), precision_loss(x, 1e-9))
