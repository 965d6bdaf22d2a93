"""Texts of trees that would end the process in XGBoost."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xgboost as xgb

from rankwise.boosting.engines.with_xgboost import XGBoost
from rankwise.serving.trees.xgboost_json import require_trees

X = np.random.default_rng(0).normal(size=(300, 4))
X[:, 3] = np.arange(300) % 20
Y = (X[:, 0] + np.sin(X[:, 3] * 5) > 0.5).astype(np.float64)


@pytest.fixture(scope="module")
def text():
    kinds = ["q", "q", "q", "c"]
    data = xgb.DMatrix(X, Y, feature_types=kinds, enable_categorical=True, nthread=1)
    booster = xgb.train({"tree_method": "hist", "max_leaves": 6, "nthread": 1}, data, 3)
    return bytes(booster.save_raw("json")).decode()


def test_trees_of_xgboost_pass(text):
    require_trees(text)
    assert json.loads(text)["learner"]["gradient_booster"]["model"]["trees"][0]["categories"]


def tree_of(model):
    return model["learner"]["gradient_booster"]["model"]["trees"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: tree_of(m)["left_children"].__setitem__(0, 100_000), "children that are not"),
        (lambda m: tree_of(m)["left_children"].__setitem__(1, 0), "children that are not"),
        (lambda m: tree_of(m)["right_children"].__setitem__(0, -1), "children that are not"),
        (lambda m: tree_of(m)["split_indices"].__setitem__(0, 77), "a column that is not there"),
        (lambda m: tree_of(m)["split_conditions"].pop(), "must be [0-9]+ numbers"),
        (lambda m: tree_of(m)["parents"].__setitem__(0, 3), "is in another one"),
        (lambda m: tree_of(m)["tree_param"].update(num_nodes="1_0"), "whole number in quotes"),
        (lambda m: tree_of(m)["tree_param"].update(num_feature="9"), "other features"),
        (lambda m: tree_of(m)["categories"].__setitem__(0, 2**30), "categories that are too"),
        (lambda m: tree_of(m)["categories_sizes"].__setitem__(0, 999), "categories that are not"),
        (lambda m: m["learner"]["learner_model_param"].update(num_feature="99999999"), "too many"),
        (lambda m: m["learner"]["gradient_booster"].update(name="dart"), "not 'gbtree'"),
        (lambda m: m["learner"].pop("gradient_booster"), "holds no 'gradient_booster'"),
    ],
)
def test_what_does_not_agree_with_itself_is_refused(text, change, message):
    model = json.loads(text)
    change(model)
    with pytest.raises(ValueError, match=f"the trees are not XGBoost's: .*{message}"):
        XGBoost.read(json.dumps(model), 1)


@pytest.mark.parametrize("text", ["", "[" * 100_000, "[]", "{}", '{"learner": 3}'])
def test_other_texts_are_one_error(text):
    with pytest.raises(ValueError, match=r"^the trees are not XGBoost's: "):
        XGBoost.read(text, 1)
