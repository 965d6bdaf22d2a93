"""The learned sorter: how well it sorts, what it ships as."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.baselines import SoDeepAP
from rankwise.baselines.sodeep import WEIGHTS, Sorter
from reproductions.train_sodeep import rank_fractions, synthetic_lists


@pytest.mark.parametrize(("items", "worst"), [(10, 0.04), (50, 0.02), (128, 0.015), (300, 0.03)])
def test_the_shipped_sorter_sorts(items, worst):
    scores = synthetic_lists(64, items, torch.Generator().manual_seed(99))
    ranks = SoDeepAP().sorter(7 * scores - 3, torch.full((64,), items))
    assert (ranks - rank_fractions(scores)).abs().mean() < worst
    by_its_ranks = scores.gather(-1, ranks.argsort(-1))
    both = torch.stack([rank_fractions(by_its_ranks), torch.arange(items).expand(64, -1)], dim=1)
    assert min(torch.corrcoef(pair)[0, 1] for pair in both) > 0.97  # Spearman's ρ


def test_what_is_shipped_is_small_frozen_and_without_pickles():
    assert WEIGHTS.stat().st_size < 1_000_000
    with np.load(WEIGHTS, allow_pickle=False) as arrays:
        assert set(arrays.files) == set(Sorter().state_dict())
    assert not any(p.requires_grad for p in SoDeepAP().parameters())


def test_weight_enters_the_mean_and_zero_is_absent():
    torch.manual_seed(0)
    scores, target = torch.randn(12), torch.tensor([1, 0, 1, 0, 0, 1] * 2)
    weight = torch.ones(12)
    weight[[2, 3]] = 0
    present = weight > 0
    loss = SoDeepAP()
    expected = loss(scores[present], target[present])
    torch.testing.assert_close(loss(scores, target, weight=weight), expected)
    assert loss(scores, target, weight=weight + target) != loss(scores, target)
