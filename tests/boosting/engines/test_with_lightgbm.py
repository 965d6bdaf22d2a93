from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
from tests.boosting.engines.grown import SETTINGS, grown, table

from rankwise.boosting.engines import Trees
from rankwise.boosting.engines.with_lightgbm import LightGBM
from rankwise.boosting.gradient import log_loss_gradient
from rankwise.boosting.rows import Rows


def leaves(engine: LightGBM):
    trees = engine.booster.trees_to_dataframe()
    return trees[trees["split_feature"].isna()]


def test_with_log_loss_it_grows_the_trees_of_lightgbm_itself() -> None:
    train, start = table(), -1.0
    engine = grown(LightGBM, 5, start=start, train=train, reg=2.0)
    data = lgb.Dataset(train.X, train.target, init_score=np.full(len(train.X), start))
    options = {
        "objective": "binary",
        "learning_rate": 0.3,
        "num_leaves": 7,
        "min_data_in_leaf": 5,
        "lambda_l2": 2.0,
        "boost_from_average": False,
        "verbosity": -1,
    }
    theirs = lgb.train(options, data, 5)
    np.testing.assert_allclose(
        LightGBM.read(engine.text(), 1)(train.X),
        theirs.predict(train.X, raw_score=True),
        rtol=1e-5,
        atol=1e-6,
    )


@pytest.mark.parametrize(("num_leaves", "least"), [(3, 5), (15, 40)])
def test_trees_are_as_large_as_was_asked(num_leaves: int, least: int) -> None:
    engine = grown(LightGBM, 4, num_leaves=num_leaves, min_child_samples=least)
    found = leaves(engine)
    assert found.groupby("tree_index").size().max() <= num_leaves
    assert found["count"].min() >= least


def test_it_ends_where_nothing_can_be_split() -> None:
    flat = Rows((np.arange(50) % 2).astype(float), X=np.zeros((50, 1)))
    engine = LightGBM(Trees(**SETTINGS), flat, None, 0.0)
    assert not engine.grow(log_loss_gradient)
    assert engine.rounds == 0
    np.testing.assert_array_equal(LightGBM.read(engine.text(), 1)(flat.X), np.zeros(50))


def test_or_where_the_leaves_would_be_too_small() -> None:
    engine = LightGBM(Trees(**{**SETTINGS, "min_child_samples": 200}), table(), None, 0.0)
    assert not engine.grow(log_loss_gradient)
    assert engine.rounds == 0


def test_an_error_of_lightgbm_that_means_something_else_is_raised(monkeypatch) -> None:
    engine = grown(LightGBM, 1)

    def fail(**options):
        raise lgb.basic.LightGBMError("out of memory")

    monkeypatch.setattr(engine.booster, "update", fail)
    with pytest.raises(lgb.basic.LightGBMError, match="out of memory"):
        engine.grow(log_loss_gradient)


def test_the_text_is_one_that_lightgbm_reads() -> None:
    engine = grown(LightGBM, 3)
    assert lgb.Booster(model_str=engine.text()).num_trees() == 3
