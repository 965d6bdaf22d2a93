"""Tests of the best single feature."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import ndcg_score

from rankwise.data.letor import Letor
from rankwise.tasks.ranking import baseline
from rankwise.tasks.ranking.baseline import SingleFeature, best_feature


def lists(seed=0, queries=30, documents=8, columns=6, as_sparse=False):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 3, queries * documents).astype(float)
    features = rng.normal(size=(len(target), columns)).astype(np.float32)
    features[:, 0] = 0  # a file that counts from 1
    features[:, 3] -= target
    groups = np.repeat(np.arange(queries), documents)
    made = sparse.csr_array(features) if as_sparse else features
    return Letor(Path("lists"), made, target, groups, tuple(map(str, range(queries))))


def by_hand(data):
    """The mean NDCG of every feature in both directions, by scikit-learn."""
    shape = (len(data.queries), -1)
    gains = (2**data.target - 1).reshape(shape)
    return {
        SingleFeature(number, sign > 0): ndcg_score(
            gains, sign * data.features[:, number].reshape(shape), k=5
        )
        for number in range(1, data.width)
        for sign in (1, -1)
    }


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_feature_with_the_highest_metric(seed):
    data = lists(seed)
    expected = by_hand(data)
    assert best_feature(data, "ndcg@5") == max(expected, key=expected.__getitem__)
    assert str(best_feature(data, "ndcg@5")) == "feature 3, smallest first"


def test_sparse_features_give_the_same():
    assert best_feature(lists(as_sparse=True), "ap", relevant=2) == best_feature(
        lists(), "ap", relevant=2
    )


def test_scores_are_the_feature_and_0_where_a_file_lacks_it():
    data = lists(as_sparse=True)
    plain = data.features.toarray()[:, 3]
    np.testing.assert_array_equal(SingleFeature(3, True).scores(data), plain)
    np.testing.assert_array_equal(SingleFeature(3, False).scores(data), -plain)
    np.testing.assert_array_equal(SingleFeature(9, True).scores(data), np.zeros(len(data)))


def test_many_documents_and_features_are_sampled(monkeypatch):
    data = lists(queries=101)
    monkeypatch.setattr(baseline, "_DOCUMENTS", 200)
    some = baseline._some_queries(data)
    assert len(some) == 21 * 8  # every fifth query
    assert some.queries == data.queries[::5]
    assert some.groups.tolist() == np.repeat(np.arange(21), 8).tolist()
    np.testing.assert_array_equal(some.features[8:16], data.features[40:48])
    assert best_feature(data, "ndcg@5").number == 3
    data.features[:500, 2] = 0
    monkeypatch.setattr(baseline, "_FEATURES", 4)
    assert baseline._frequent(data) == [1, 3, 4, 5]
