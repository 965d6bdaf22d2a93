from __future__ import annotations

import torch

from reproductions.train_sodeep import rank_fractions, synthetic_lists, train


def test_ranks_are_those_of_the_scores():
    fractions = rank_fractions(torch.tensor([[3.0, 1.0, 2.0]]))
    assert fractions.argsort(dim=-1).tolist() in ([[0, 2, 1]], [[1, 2, 0]])
    assert 0 <= float(fractions.min()) < float(fractions.max()) <= 1


def test_lists_are_the_same_for_a_seed():
    made = [synthetic_lists(8, 5, torch.Generator().manual_seed(1)) for _ in range(2)]
    assert made[0].shape == (8, 5)
    assert torch.equal(*made)
    assert torch.isfinite(made[0]).all()


def test_a_few_steps_train_and_repeat():
    first, second = (train(2, rows=4).state_dict() for _ in range(2))
    for name, value in first.items():
        assert torch.equal(value, second[name])
