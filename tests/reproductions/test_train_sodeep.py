from __future__ import annotations

import torch

from reproductions.train_sodeep import main, rank_fractions, synthetic_lists, train


def test_rank_fractions_worked_by_hand():
    ranks = rank_fractions(torch.tensor([[3.0, 1.0, 2.0, 2.0]]))  # ranks 1, 4, 2½, 2½ of 4
    torch.testing.assert_close(ranks, torch.tensor([[0.5, 3.5, 2.0, 2.0]]) / 4)


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
