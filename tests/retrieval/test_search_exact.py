from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.retrieval import nearest


def test_the_nearest_by_cosine_whatever_the_lengths(monkeypatch):
    generator = torch.Generator().manual_seed(0)
    gallery = torch.randn(30, 5, generator=generator) * torch.arange(1, 31).unsqueeze(1)
    queries = 7 * torch.randn(11, 5, generator=generator)
    cosines = torch.nn.functional.cosine_similarity(queries[:, None], gallery[None], dim=2)
    expected = cosines.sort(descending=True)
    monkeypatch.setattr("rankwise.retrieval.search._BLOCK", 90)  # three queries at once
    found = nearest(gallery.numpy(), queries, 4)
    assert found.rows.tolist() == expected.indices[:, :4].tolist()
    np.testing.assert_allclose(found.scores, expected.values[:, :4], atol=1e-6)


def test_more_than_there_are():
    found = nearest(torch.eye(2), torch.tensor([[0.0, 3.0]]), 4)
    assert found.rows.tolist() == [[1, 0, -1, -1]]
    assert found.scores.tolist() == [[1, 0, -np.inf, -np.inf]]
    assert nearest(torch.zeros(0, 2), torch.ones(1, 2), 1).rows.tolist() == [[-1]]
    assert nearest(torch.eye(2), torch.zeros(0, 2), 3).rows.shape == (0, 3)


def test_bad_input():
    with pytest.raises(ValueError, match="queries must have the 2 dimensions of embeddings, got 3"):
        nearest(torch.eye(2), torch.ones(1, 3))
    with pytest.raises(ValueError, match="k must be"):
        nearest(torch.eye(2), torch.ones(1, 2), 0)
