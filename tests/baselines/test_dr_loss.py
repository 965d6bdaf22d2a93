from __future__ import annotations

import math

import pytest
import torch

from rankwise import objective
from rankwise.baselines import DistributionalRanking


def test_one_of_each_by_hand():
    """One item is all of its distribution: τ/L · log(1 + e^{L(p⁻ − p⁺ + γ)})."""
    scores = torch.tensor([0.0, math.log(3.0)])  # p = ½ and ¾
    value = DistributionalRanking()(scores, torch.tensor([1, 0]))
    assert value.item() == pytest.approx(4 / 6 * math.log(1 + math.exp(6 * (0.25 + 0.5))), rel=1e-6)


def test_the_hardest_negative_decides_when_lambda_is_small():
    scores = torch.tensor([0.0, -9.0, -9.0, 2.0])
    target = torch.tensor([1, 0, 0, 0])
    sharp = DistributionalRanking(negative_lambda=1e-3)(scores, target)
    alone = DistributionalRanking()(scores[[0, 3]], target[[0, 3]])
    torch.testing.assert_close(sharp, alone)


def test_no_negative_is_lost_in_a_crowd():
    """A mean over 10⁶ negatives does not see one of them; their worst distribution does."""
    scores = torch.full((100_001,), -8.0)
    scores[0] = 3.0
    target = torch.arange(100_001) == 0
    before = DistributionalRanking()(scores, target)
    scores[1:50] = 8.0
    assert DistributionalRanking()(scores, target) > before + 0.3


def test_names_and_bad_options():
    assert objective("dr(margin=0.2)").margin == 0.2
    with pytest.raises(ValueError, match="negative_lambda must be a finite number > 0"):
        DistributionalRanking(negative_lambda=0)
    with pytest.raises(ValueError, match="margin must be a finite number"):
        DistributionalRanking(margin=math.inf)
