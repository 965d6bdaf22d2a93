from __future__ import annotations

import torch

from rankwise.lists import split_lists
from rankwise.objectives.auc.formulas import pair_mean
from rankwise.pairs import Hinge

LISTS = split_lists(
    torch.tensor([[2.0, 0.0, 1.0, 1.5]]),
    torch.tensor([[1, 0, 0, 1]]),
    weight=torch.tensor([[3.0, 1.0, 1.0, 1.0]]),
)


def test_two_positives_and_two_negatives_by_hand():
    # x = 2, 1 for the positive that counts thrice, 1.5, .5 for the other; ℓ = (1 − x)₊
    torch.testing.assert_close(pair_mean(Hinge(1.0), LISTS), torch.tensor([0.5 / 8]))
