from __future__ import annotations

import pytest
import torch

from rankwise.objectives import AveragePrecision, embedding_scores

E = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
Y = torch.tensor([0, 1, 0])


def test_every_item_ranks_the_others_by_cosine():
    scores, target, mask = embedding_scores(E, Y)
    half = 2**-0.5
    expected = torch.tensor([[1, 0, half], [0, 1, half], [half, half, 1]])
    torch.testing.assert_close(scores, expected)
    assert target.tolist() == [[True, False, True], [False, True, False], [True, False, True]]
    assert mask.tolist() == [[False, True, True], [True, False, True], [True, True, False]]
    assert embedding_scores(E, Y, normalize=False).scores[2].tolist() == [3, 6, 18]


def test_a_gallery_comes_after_the_batch():
    scores, target, mask = embedding_scores(E, Y, E[:2].double(), Y[:2])
    assert scores.shape == (3, 5)
    assert target[0].tolist() == [True, False, True, True, False]
    assert mask[0].tolist() == [False, True, True, True, True]


def test_it_trains():
    torch.manual_seed(0)
    embeddings = torch.randn(12, 4, requires_grad=True)
    found = embedding_scores(embeddings, torch.arange(12) % 3)
    AveragePrecision()(found.scores, found.target, mask=found.mask).backward()
    assert embeddings.grad is not None
    assert embeddings.grad.abs().sum() > 0


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"labels must have one class per item, shape \(3,\)"):
        embedding_scores(E, Y[:2])
    with pytest.raises(ValueError, match=r"embeddings must have shape \(items, dimension\)"):
        embedding_scores(E[0], Y)
    with pytest.raises(ValueError, match="gallery and gallery_labels go together"):
        embedding_scores(E, Y, gallery=E)
