"""Selections by rank against the counts written out, with weights, ties and several lists."""

from __future__ import annotations

import math

import pytest
import torch

from rankwise.lists import split_lists
from rankwise.objectives.partial_auc._selected import (
    SelectedNegatives,
    SelectedPositives,
    ranked_negatives,
)
from rankwise.pairs import SquaredHinge


def lists_of(positives, negatives, weight=None):
    scores = torch.tensor([[*positives, *negatives]], dtype=torch.float64)
    target = torch.arange(scores.shape[1]) < len(positives)
    weight = None if weight is None else torch.tensor([weight], dtype=torch.float64)
    return split_lists(scores, target[None], weight=weight)


@pytest.mark.parametrize("n", [1, 3, 10, 100])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 0.3), (0.07, 0.29), (0.95, 1), (0, 0.01)])
def test_the_ranks_of_the_seed(n, low, high):
    """0.29 · 100 is 29 items, though the product of the floats is less; 0.07 · 100 is 7, not 8."""
    negatives = torch.randperm(n, generator=torch.Generator().manual_seed(n)).tolist()
    chosen = ranked_negatives(lists_of([0.0], negatives), low, high)
    first = min(math.ceil(n * low - 1e-9), n - 1)
    last = max(first + 1, math.floor(n * high + 1e-9))
    assert sorted(chosen.negatives[0].tolist()) == list(range(n - last, n - first))
    assert (chosen.negative_weight == 1).all()


def test_mass_that_is_not_rounded():
    negatives = [4.0, 1.0, 3.0, 2.0, 0.0]
    chosen = ranked_negatives(lists_of([0.0], negatives), 0.0, 0.5, rounded=False)
    parts = dict(zip(chosen.negatives[0].tolist(), chosen.negative_weight[0].tolist(), strict=True))
    assert parts == {4.0: 1.0, 3.0: 1.0, 2.0: 0.5}


def test_fractional_weights_are_not_rounded_and_whole_ones_are():
    """Whole weights on both sides are counts; half a positive makes a mass of all of them."""
    negatives = [3.0, 2.0, 1.0]
    whole = ranked_negatives(lists_of([0.0], negatives, [1.0, 2.0, 2.0, 1.0]), 0.0, 0.5)
    assert whole.negative_weight.sum() == 2
    half = ranked_negatives(lists_of([0.0], negatives, [0.5, 2.0, 2.0, 1.0]), 0.0, 0.5)
    assert half.negative_weight.sum() == 2.5


def test_value_of_each_positive_by_hand():
    values, _ = SelectedNegatives(SquaredHinge(1.0), 0.0, 0.5, rounded=True)(
        lists_of([2.0, 0.0], [1.5, -9.0, 0.5, -8.0])
    )
    first = ((1 - 0.5) ** 2 + 0) / 2
    second = ((1 + 1.5) ** 2 + (1 + 0.5) ** 2) / 2
    torch.testing.assert_close(values, torch.tensor([[first, second]], dtype=torch.float64))


@pytest.mark.parametrize(
    ("min_tpr", "rounding", "expected"),
    [
        (0.0, "up", (1 + 2 + 4 + 8) / 4),
        (0.5, "up", (1 + 2) / 2),
        (0.6, "up", (1 + 2) / 2),  # ⌈1.6⌉ = 2
        (0.6, "down", 1),  # ⌊1.6⌋ = 1
        (0.3, "down", (1 + 2) / 2),  # ⌊2.8⌋ = 2
        (0.5, "down", (1 + 2) / 2),
        (0.6, None, (1 + 0.6 * 2) / 1.6),
        (0.99, "up", 1),
        (0.99, "down", 1),  # ⌊.04⌋ = 0, and at least 1
    ],
)
def test_mean_over_the_lowest_positives(min_tpr, rounding, expected):
    lists = lists_of([0.0, 3.0, 1.0, 2.0], [0.0])
    values = torch.tensor([[1.0, 8.0, 2.0, 4.0]], dtype=torch.float64)
    mean = SelectedPositives(min_tpr, rounding=rounding)(values, lists)[0]
    torch.testing.assert_close(mean, torch.tensor([expected], dtype=torch.float64))


@pytest.mark.parametrize(("min_tpr", "rounding"), [(0.42, "up"), (0.55, "down")])
def test_a_product_next_to_a_whole_number_is_that_number(min_tpr, rounding):
    """100 · (1 − .42) is 58 positives and 100 · (1 − .55) is 45, though not in floats."""
    number = round(100 * (1 - min_tpr))
    product = 100 * (1 - min_tpr)
    assert product > number if rounding == "up" else product < number
    lists = lists_of([float(score) for score in range(100)], [0.0])
    mean = SelectedPositives(min_tpr, rounding=rounding)(lists.positives, lists)[0]
    torch.testing.assert_close(mean.item(), sum(range(number)) / number)
