from __future__ import annotations

import pytest
import torch
from tests.reproductions.retrieval.tiny import NETWORK, VIEWS, pretrained
from tests.tasks.retrieval.cases import splits

from rankwise.data import DataError
from reproductions.retrieval.features import features_of


@pytest.fixture(scope="module")
def bench():
    return pretrained()


def test_features_are_standardized_by_the_training_images(bench):
    own = bench.features.train.features
    assert own.shape == (24, 16)
    torch.testing.assert_close(own.mean(0), torch.zeros(16), atol=1e-5, rtol=0)
    spread = own.std(0, correction=0)
    used = spread > 0.5  # a feature that is always 0 stays so
    assert used.any()
    torch.testing.assert_close(spread[used], torch.ones(int(used.sum())), atol=1e-2, rtol=0)
    assert not torch.allclose(bench.features.test.features.mean(0), torch.zeros(16), atol=1e-3)


def test_features_are_read_again_and_refused_for_other_pictures(tmp_path, monkeypatch):
    path, given = tmp_path / "features.npz", splits()
    first = features_of(given, NETWORK, VIEWS, path)

    def never(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("reproductions.retrieval.features._computed", never)
    again = features_of(given, NETWORK, VIEWS, path)
    for part in ("train", "validation", "test"):
        assert torch.equal(getattr(first, part).features, getattr(again, part).features)
    with pytest.raises(DataError, match=r"features in .* are of"):
        features_of(splits(test=given.validation), NETWORK, VIEWS, path)
