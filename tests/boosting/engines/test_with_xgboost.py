from __future__ import annotations

import json

import numpy as np
import pytest
import xgboost as xgb
from tests.boosting.engines.grown import grown, table

from rankwise.boosting.engines.with_xgboost import XGBoost
from rankwise.boosting.gradient import log_loss_gradient


def sizes(engine: XGBoost) -> list[int]:
    """The leaves of every tree."""
    trees = json.loads(engine.text())["learner"]["gradient_booster"]["model"]["trees"]
    return [tree["left_children"].count(-1) for tree in trees]


def test_with_log_loss_it_grows_the_trees_of_xgboost_itself() -> None:
    train, start = table(), -1.0
    engine = grown(XGBoost, 5, start=start, train=train, reg=2.0)
    margin = np.full(len(train.X), start)
    data = xgb.DMatrix(train.X, label=train.target, base_margin=margin)
    rate = 1 / (1 + np.exp(1.0))
    options = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": 7,
        "learning_rate": 0.3,
        "reg_lambda": 2.0,
        "min_child_weight": 5 * rate * (1 - rate),  # five rows' curvature at the start
        "nthread": 1,
    }
    theirs = xgb.train(options, data, 5).predict(data, output_margin=True) - start
    np.testing.assert_allclose(XGBoost.read(engine.text(), 1)(train.X), theirs, atol=1e-4)


@pytest.mark.parametrize("num_leaves", [3, 15])
def test_trees_have_at_most_so_many_leaves(num_leaves: int) -> None:
    found = sizes(grown(XGBoost, 4, num_leaves=num_leaves, min_child_samples=1))
    assert len(found) == 4
    assert max(found) == num_leaves


def test_more_rows_in_a_leaf_make_smaller_trees() -> None:
    few, many = (sizes(grown(XGBoost, 1, num_leaves=50, min_child_samples=n)) for n in (1, 60))
    assert 1 < many[0] < few[0]


def test_settings_stay_after_trees_were_taken_back() -> None:
    engine = grown(XGBoost, 4, num_leaves=3, min_child_samples=1)
    engine.cut(2)
    engine.grow(log_loss_gradient)
    assert sizes(engine) == [3, 3, 3]


def test_a_cut_to_more_than_there_are_leaves_all() -> None:
    engine = grown(XGBoost, 2)
    engine.cut(5)
    assert engine.rounds == 2


def test_the_text_is_one_that_xgboost_reads() -> None:
    booster = xgb.Booster()
    booster.load_model(bytearray(grown(XGBoost, 3).text().encode()))
    assert booster.num_boosted_rounds() == 3
