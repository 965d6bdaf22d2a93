from __future__ import annotations

import pytest
import torch

from rankwise.lists import split_lists
from rankwise.objectives.auc.formulas import (
    class_means,
    pair_mean,
    precise,
    require_surrogate,
    square_about,
)
from rankwise.pairs import Hinge

LISTS = split_lists(
    torch.tensor([[2.0, 0.0, 1.0, 1.5]]),
    torch.tensor([[1, 0, 0, 1]]),
    weight=torch.tensor([[3.0, 1.0, 1.0, 1.0]]),
)


def test_two_positives_and_two_negatives_by_hand():
    # x = 2, 1 for the positive that counts thrice, 1.5, .5 for the other; ℓ = (1 − x)₊
    torch.testing.assert_close(pair_mean(Hinge(1.0), LISTS), torch.tensor([0.5 / 8]))
    above, below = class_means(LISTS)
    torch.testing.assert_close(above, torch.tensor([(3 * 2 + 1.5) / 4]))
    torch.testing.assert_close(below, torch.tensor([0.5]))
    squares = (3 * (2 - 1) ** 2 + (1.5 - 1) ** 2) / 4 + ((0 + 1) ** 2 + (1 + 1) ** 2) / 2
    value = square_about(LISTS, torch.tensor([1.0]), torch.tensor([-1.0]))
    torch.testing.assert_close(value, torch.tensor([squares]))


def test_precise_lists_have_the_same_numbers_in_double_precision():
    lists = precise(LISTS)
    assert lists.positives.dtype == lists.negative_weight.dtype == torch.float64
    assert torch.equal(lists.positives.float(), LISTS.positives)
    assert torch.equal(lists.positive_weight.float(), LISTS.positive_weight)


def test_a_name_is_no_surrogate():
    with pytest.raises(ValueError, match=r"surrogate must be one of rankwise\.pairs.*got 'hinge'"):
        require_surrogate("hinge")
