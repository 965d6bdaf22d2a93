"""Estimators take an objective of your own: an object, or the name it is registered under."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import rankwise
from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker, Ranker
from rankwise.naming.registry import REGISTRY
from rankwise.objectives import PairwiseAUC, XRisk
from rankwise.pairs import SquaredHinge

MODELS = {
    "linear": LinearRanker,
    "boosted": lambda objective, **options: BoostedRanker(objective, n_estimators=5, **options),
    "neural": lambda objective, **options: NeuralRanker(objective, epochs=20, **options),
}


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, X[:, 0] + 0.3 * rng.normal(size=200) > 1


def own(margin=1.0):
    return XRisk(SquaredHinge(margin), torch.log1p)


@pytest.mark.parametrize("model", MODELS)
def test_an_object_trains_and_is_evaluated(model):
    X, y = rows()
    fitted = MODELS[model](own(), random_state=0).fit(X, y)
    assert fitted.score(X, y) > 0.8
    assert isinstance(fitted.get_params()["objective"], XRisk)


@pytest.mark.parametrize("model", MODELS)
def test_an_object_of_rankwise_trains_the_model_of_its_name(model):
    X, y = rows()
    by_name = MODELS[model]("auc(squared_hinge(2.0))", random_state=0).fit(X, y)
    by_object = MODELS[model](PairwiseAUC(SquaredHinge(2.0)), random_state=0).fit(X, y)
    np.testing.assert_array_equal(by_name.decision_function(X), by_object.decision_function(X))


def test_two_objects_are_two_objectives():
    X, y = rows()
    scores = [LinearRanker(own(m), random_state=0).fit(X, y).decision_function(X) for m in (1, 9)]
    assert not np.allclose(*scores)


def test_scikit_learn_copies_it():
    X, y = rows()
    copied = clone(LinearRanker(own()))
    assert isinstance(copied.objective, XRisk)
    assert cross_val_score(copied, X, y, cv=2).min() > 0.7


def test_a_saved_model_scores_without_the_objective(tmp_path):
    X, y = rows()
    fitted = LinearRanker(own(), metric="auc", random_state=0).fit(X, y)
    loaded = Ranker.load(fitted.save(tmp_path / "model.ranker"))
    np.testing.assert_array_equal(loaded.decision_function(X), fitted.decision_function(X))
    assert loaded.score(X, y) == fitted.score(X, y)
    with pytest.raises(ValueError, match=r"of your own \(XRisk\); pass it again with set_params"):
        loaded.fit(X, y)
    again = loaded.set_params(objective=own()).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


def test_a_registered_name_trains_the_model_of_the_object(monkeypatch):
    monkeypatch.setattr(REGISTRY, "entries", dict(REGISTRY.entries))
    rankwise.register("log_auc", own(), metric="auc")
    X, y = rows()
    by_name = LinearRanker("log_auc", random_state=0).fit(X, y)
    by_object = LinearRanker(own(), metric="auc", random_state=0).fit(X, y)
    np.testing.assert_array_equal(by_name.decision_function(X), by_object.decision_function(X))
    assert by_name.score(X, y) == by_object.score(X, y)


@pytest.mark.parametrize("wrong", [XRisk, 3, None])
def test_what_is_no_objective_is_refused(wrong):
    with pytest.raises(ValueError, match="objective must be a name such as 'ap'"):
        LinearRanker(wrong).fit(*rows())
