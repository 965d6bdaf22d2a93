"""The learned sorter: how well it sorts, what it ships as, how it is trained."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.baselines import SoDeepAP
from rankwise.baselines.sodeep import WEIGHTS, Sorter
from reproductions.train_sodeep import main, rank_fractions, synthetic_lists, train


def test_rank_fractions_worked_by_hand():
    ranks = rank_fractions(torch.tensor([[3.0, 1.0, 2.0, 2.0]]))  # ranks 1, 4, 2½, 2½ of 4
    torch.testing.assert_close(ranks, torch.tensor([[0.5, 3.5, 2.0, 2.0]]) / 4)


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


def test_training_learns_to_sort(tmp_path, monkeypatch, capsys):
    sorter = train(40, rows=16, report=20)
    scores = synthetic_lists(32, 20, torch.Generator().manual_seed(1))
    error = (sorter(scores, torch.full((32,), 20)) - rank_fractions(scores)).abs().mean()
    assert error < 0.15  # a constant is off by .25
    assert "mean error of the ranks" in capsys.readouterr().out
    out = tmp_path / "sorter.npz"
    monkeypatch.setattr("sys.argv", ["train_sodeep", "--steps", "2", "--out", str(out)])
    main()
    assert out.exists()
