from __future__ import annotations

import pytest
import torch

from rankwise.memory import EmbeddingBank


def batch(*numbers: float) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor(numbers).unsqueeze(1).repeat(1, 2), torch.tensor(numbers).long()


def test_the_last_ones_are_kept_oldest_replaced_first():
    bank = EmbeddingBank(4, 2)
    assert len(bank(*batch(1, 2, 3))[0]) == 0  # what was held before the batch
    assert sorted(bank(*batch(4, 5))[1].tolist()) == [1, 2, 3]
    assert sorted(bank(*batch(6))[1].tolist()) == [2, 3, 4, 5]
    embeddings, labels = bank(*batch(7, 8, 9, 10, 11, 12))  # more than fit
    assert sorted(labels.tolist()) == [3, 4, 5, 6]
    assert torch.equal(embeddings[:, 0], labels.float())
    assert sorted(bank(*batch(0))[1].tolist()) == [9, 10, 11, 12]


def test_validation_is_not_kept_and_the_state_is_buffers():
    bank = EmbeddingBank(3, 2)
    bank(*batch(1, 2))
    bank.eval()
    bank(*batch(3))
    bank.train()
    with torch.no_grad():
        bank(*batch(4))
    other = EmbeddingBank(3, 2)
    other.load_state_dict(bank.state_dict())
    assert other(*batch(9))[1].tolist() == [1, 2]


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"embeddings must have shape \(n, 2\), got \(1, 3\)"):
        EmbeddingBank(3, 2)(torch.zeros(1, 3), torch.zeros(1))
    with pytest.raises(ValueError, match=r"labels must have shape \(1,\), got \(2,\)"):
        EmbeddingBank(3, 2)(torch.zeros(1, 2), torch.zeros(2))
    with pytest.raises(ValueError, match="embeddings contains NaN"):
        EmbeddingBank(3, 2)(torch.tensor([[1.0, torch.nan]]), torch.zeros(1))
    with pytest.raises(ValueError, match="size must be a whole number"):
        EmbeddingBank(0, 2)


def test_sizes_are_shown():
    assert repr(EmbeddingBank(3, 2)) == "EmbeddingBank(size=3, dimension=2)"
