from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import check_random_state

from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker
from rankwise.estimators.data import Part
from rankwise.estimators.split import hold_out

SMALL = {"hidden": (6,), "epochs": 6, "batch_size": 64}
RANKERS = [
    LinearRanker("log_loss", random_state=0),
    NeuralRanker("log_loss", **SMALL, random_state=0),
    BoostedRanker("log_loss", n_estimators=10, n_jobs=1, random_state=0),
]


def lists(seed, queries=20, documents=6):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(queries), documents)
    y = np.tile(np.arange(documents) % 3, queries)
    X = rng.normal(size=(len(y), 3))
    X[:, 1] += 2 * y
    return X, y, groups


@pytest.mark.parametrize("ranker", RANKERS, ids=["linear", "neural", "boosted"])
def test_rows_held_out_by_hand_are_those_held_out_by_itself(ranker, rows):
    X, y = rows
    alone = clone(ranker).fit(X, y)
    seed = int(check_random_state(0).randint(2**31 - 1))
    held = hold_out(Part(X, y.astype(float)), 0.2, seed)
    by_hand = clone(ranker).fit(X[~held], y[~held], validation=(X[held], y[held]))
    assert by_hand.held_out_ == alone.held_out_ == held.sum()
    if not isinstance(ranker, BoostedRanker):  # whose first score is the share of all rows
        np.testing.assert_array_equal(by_hand.predict_proba(X), alone.predict_proba(X))
        assert by_hand.threshold_ == alone.threshold_
    assert by_hand.prior_ == y[~held].mean()


def test_they_say_when_to_stop_and_are_not_learned_from():
    X, y, groups = lists(0)
    other = lists(1, queries=7)
    ranker = NeuralRanker("ndcg@3", **SMALL, random_state=0)
    found = clone(ranker).fit(X, y, groups=groups, validation=other)
    assert found.held_out_ == len(other[1])
    value = found.score(other[0], other[1], groups=other[2])
    assert value == pytest.approx(max(found.history_))
    # All rows are learned from: other rows to stop by leave the first epoch as it is.
    one = clone(ranker).set_params(epochs=1)
    first, second = (
        one.fit(X, y, groups=groups, validation=lists(seed))._scores(X) for seed in (1, 2)
    )
    np.testing.assert_array_equal(first, second)


def test_relevances_that_only_validation_has_or_has_not():
    X, y, groups = lists(0)
    few, ids = np.minimum(y, 1) * 2, groups + 100  # 0 and 2 only
    ranker = LinearRanker("ndcg@3", random_state=0)
    assert ranker.fit(X, y, groups=groups, validation=(X, few, ids)).held_out_ == len(y)
    assert ranker.fit(X, np.minimum(y, 1), groups=groups, validation=(X, y, ids)).held_out_


def test_weights_of_the_rows_held_out_count(rows):
    X, y = rows
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 2.0)
    ranker = LinearRanker("log_loss", threshold="f1", random_state=0)
    weighted = clone(ranker).fit(X, y, validation=(X, y, None, weight))
    without = clone(ranker).fit(X, y, validation=(X[weight > 0], y[weight > 0]))
    assert weighted.held_out_ == without.held_out_ == (weight > 0).sum()
    assert weighted.threshold_ == pytest.approx(without.threshold_)


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        (lambda X, y: (X,), r"validation must be \(X, y\[, groups\[, sample_weight\]\]\), got 1"),
        (lambda X, y: X, "got ndarray"),
        (lambda X, y: (X, y[1:]), "validation must have one y per row of X"),
        (lambda X, y: (X[:, 1:], y), "features"),
        (lambda X, y: (X, y * 0), "validation must hold rows of both classes, got only"),
        (lambda X, y: (X, y + 1), "y"),
        (lambda X, y: (X, y, np.zeros(len(y))), "validation must have groups where the rows"),
    ],
)
def test_what_cannot_be_held_out_is_said(rows, validation, message):
    X, y = rows
    with pytest.raises(ValueError, match=message):
        LinearRanker("log_loss").fit(X, y, validation=validation(X, y))
