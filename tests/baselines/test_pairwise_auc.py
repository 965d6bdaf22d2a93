from __future__ import annotations

import pytest
import torch

from rankwise.baselines import AUCHuber, AUCSigmoid, PairwiseAUC
from rankwise.metrics import auroc
from rankwise.pairs import ZeroOne


def test_with_the_zero_one_loss_it_is_the_metric():
    torch.manual_seed(0)
    scores, target = torch.randn(300, dtype=torch.float64), torch.rand(300) < 0.2
    torch.testing.assert_close(PairwiseAUC(ZeroOne())(scores, target), 1 - auroc(scores, target))


def test_three_pairs_worked_by_hand():
    scores, target = torch.tensor([0.5, 0.0, 0.25, 2.0]), torch.tensor([1, 0, 0, 0])
    huber = ((1 - 0.5) ** 2 + (1 - 0.25) ** 2 + (1 + 2 * 1.5)) / 3  # x = .5, .25, −1.5
    torch.testing.assert_close(AUCHuber()(scores, target), torch.tensor(huber))
    sigmoid = torch.sigmoid(-torch.tensor([0.5, 0.25, -1.5])).mean()
    torch.testing.assert_close(AUCSigmoid()(scores, target), sigmoid)


def test_bad_options_are_named():
    with pytest.raises(
        ValueError, match=r"surrogate must be one of rankwise\.pairs or its name, got 3"
    ):
        PairwiseAUC(3)
    with pytest.raises(ValueError, match="tau must be a finite number > 0"):
        AUCHuber(-1.0)
