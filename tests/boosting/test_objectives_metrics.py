from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from rankwise.boosting import lightgbm_metric, xgboost_metric
from rankwise.metrics import average_precision, ndcg

from .cases import ranked

X = np.arange(60.0)[:, None]


@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_those_of_the_metric(weighted) -> None:
    scores, rows = ranked(60, weight=weighted)
    value = float(average_precision(scores, rows.target, weight=rows.weight))
    theirs = lgb.Dataset(X, rows.target, weight=rows.weight, params={"verbosity": -1}).construct()
    assert lightgbm_metric("ap")(scores, theirs) == ("ap", pytest.approx(value), True)
    other = xgb.DMatrix(X, rows.target, weight=rows.weight)
    assert xgboost_metric("ap")(scores, other) == ("ap", pytest.approx(value))


def test_lists_are_averaged_and_those_of_one_class_left_out() -> None:
    scores, rows = ranked(60)
    target = rows.target.copy()
    target[:20] = 0
    data = lgb.Dataset(X, target, group=[20, 20, 20], params={"verbosity": -1}).construct()
    name, value, _ = lightgbm_metric("ndcg@5")(scores, data)
    assert name == "ndcg@5"
    parts = [float(ndcg(scores[s], target[s], k=5)) for s in (slice(20, 40), slice(40, 60))]
    assert value == pytest.approx(np.mean(parts))


def test_unknown_metrics_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="no metric is called"):
        lightgbm_metric("nonsense")


def test_a_metric_is_shown_under_the_name_of_rankwise() -> None:
    target, scores = np.array([0.0, 1, 0, 1]), np.array([0.1, 0.4, 0.3, 0.2])
    name, value, _ = lightgbm_metric("pr_auc")(
        scores, lgb.Dataset(np.zeros((4, 1)), target).construct()
    )
    assert (name, value) == ("ap", average_precision(scores, target))
    assert xgboost_metric("roc_auc")(scores, xgb.DMatrix(np.zeros((4, 1)), target))[0] == "auc"
