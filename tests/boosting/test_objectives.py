from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
import torch
import xgboost as xgb
from lightgbm import LGBMClassifier
from torch import Tensor, nn

from rankwise.boosting import (
    lightgbm_metric,
    lightgbm_objective,
    xgboost_metric,
    xgboost_objective,
)
from rankwise.boosting.gradient import log_loss_gradient
from rankwise.boosting.objectives import gradient_of, stateless_objective
from rankwise.boosting.rows import rows_of
from rankwise.estimators import LinearRanker, NeuralRanker
from rankwise.lists import Lists
from rankwise.metrics import average_precision
from rankwise.objectives import FairnessConstraint, Objective, PairwiseAUC, XRisk
from rankwise.pairs import Hinge, Logistic

QUIET = {"verbosity": -1, "num_leaves": 7, "num_threads": 1, "metric": "none"}
DEEP = {"max_depth": 3, "nthread": 1, "base_score": 0.0, "disable_default_eval_metric": True}
NAMES = [
    "ap",
    "auc",
    "opauc(max_fpr=.2)",
    "opauc(max_fpr=.2, form=kl)",
    "tpauc(.5, .5)",
    "pap@20",
    "ndcg",
    "ndcg@10",
    "listnet",
]


def table(n: int = 400, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n) > 2.2).astype(float)
    return X, y


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("grouped", [False, True])
def test_lightgbm_learns(name, grouped) -> None:
    X, y = table()
    group = [100] * 4 if grouped else None
    data = lgb.Dataset(X, y, group=group, params=QUIET)
    booster = lgb.train({**QUIET, "objective": lightgbm_objective(name)}, data, 15)
    assert average_precision(booster.predict(X), y) > 0.75


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("grouped", [False, True])
def test_xgboost_learns(name, grouped) -> None:
    X, y = table()
    data = xgb.DMatrix(X, y)
    if grouped:
        data.set_group([100] * 4)
    booster = xgb.train(DEEP, data, 15, obj=xgboost_objective(name))
    assert average_precision(booster.predict(data), y) > 0.75


def test_early_stopping_keeps_the_best_and_not_the_worst() -> None:
    (X, y), (other, truth) = table(), table(seed=1)
    train = lgb.Dataset(X, y, params=QUIET)
    valid = lgb.Dataset(other, truth, reference=train)
    seen: dict = {}
    booster = lgb.train(
        {**QUIET, "objective": lightgbm_objective("ap")},
        train,
        40,
        valid_sets=[valid],
        valid_names=["valid"],
        feval=lightgbm_metric("ap"),
        callbacks=[lgb.early_stopping(10, verbose=False), lgb.record_evaluation(seen)],
    )
    values = seen["valid"]["ap"]
    assert booster.best_iteration == int(np.argmax(values)) + 1
    assert max(values) == pytest.approx(float(average_precision(booster.predict(other), truth)))

    train, valid = xgb.DMatrix(X, y), xgb.DMatrix(other, truth)
    record: dict = {}
    model = xgb.train(
        DEEP,
        train,
        40,
        obj=xgboost_objective("ap"),
        evals=[(valid, "valid")],
        custom_metric=xgboost_metric("ap"),
        maximize=True,
        early_stopping_rounds=10,
        evals_result=record,
        verbose_eval=False,
    )
    assert model.best_iteration == int(np.argmax(record["valid"]["ap"]))


def test_warm_rounds_are_log_loss_and_counted_by_data_set() -> None:
    X, y = table(60)
    data, other = (lgb.Dataset(X, y, params=QUIET).construct() for _ in range(2))
    objective = lightgbm_objective("ap", warm_rounds=2)
    scores, rows = np.linspace(-1, 1, 60), rows_of(data)
    plain, metric = log_loss_gradient(scores, rows)[0], gradient_of("ap")(scores, rows)[0]
    np.testing.assert_array_equal(objective(scores, data)[0], plain)
    np.testing.assert_array_equal(objective(scores, data)[0], plain)
    np.testing.assert_array_equal(objective(scores, other)[0], plain)
    np.testing.assert_array_equal(objective(scores, data)[0], metric)
    np.testing.assert_array_equal(objective(scores, other)[0], plain)


def test_log_loss_gradients_make_the_built_in_trees() -> None:
    X, y = table()
    rate = y.mean()
    start = np.full(len(y), np.log(rate / (1 - rate)))
    own = lgb.Dataset(X, y, init_score=start, params=QUIET)
    ours = lgb.train({**QUIET, "objective": lightgbm_objective("ap", blend=0.0)}, own, 5)
    theirs = lgb.train({**QUIET, "objective": "binary"}, lgb.Dataset(X, y, params=QUIET), 5)
    np.testing.assert_allclose(
        ours.predict(X) + start[0], theirs.predict(X, raw_score=True), atol=1e-4
    )


def test_another_models_scores_are_where_it_starts() -> None:
    X, y = table()
    start = 3 * X[:, 0]
    seen = []
    objective = xgboost_objective("ap")

    def spy(scores, data):
        seen.append(scores)
        return objective(scores, data)

    xgb.train(DEEP, xgb.DMatrix(X, y, base_margin=start), 1, obj=spy)
    np.testing.assert_allclose(seen[0], start, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("soap", '"ap"'),
        ("soprc", '"ap"'),
        ("stable_ap", '"ap"'),
        ("aucm", '"auc"'),
        ("sopa(max_fpr=.1)", r'"opauc\(max_fpr=0.1\)"'),
        ("sota_s(.5, .5)", r'"tpauc\(min_tpr=0.5, max_fpr=0.5\)"'),
        ("song", '"ndcg"'),
    ],
)
def test_memories_are_refused(name, instead) -> None:
    with pytest.raises(ValueError, match=f"remembers earlier batches.*use {instead}"):
        lightgbm_objective(name)


@pytest.mark.parametrize("name", ["ovr(ap)", "mauc", "autkc@3"])
def test_objectives_of_classes_are_refused(name) -> None:
    with pytest.raises(ValueError, match="not one of one score per row"):
        xgboost_objective(name)


class Broken(Objective):
    """A user's own, which fails."""

    def risk(self, lists: Lists) -> Tensor:
        raise RuntimeError("of my own")


@pytest.mark.parametrize("make", [lightgbm_objective, LinearRanker, NeuralRanker])
def test_what_is_wrong_with_an_objective_of_a_user_is_reported(make) -> None:
    def use(objective: nn.Module) -> None:
        made = make(objective)
        if make is not lightgbm_objective:
            made.fit(np.arange(80.0)[:, None], np.arange(80) % 4 == 0)

    with pytest.raises(ValueError, match=r"must be an Objective.*got BCEWithLogitsLoss; derive it"):
        use(nn.BCEWithLogitsLoss())
    with pytest.raises(ValueError, match=r"must be an Objective.*got FairnessConstraint"):
        use(FairnessConstraint(PairwiseAUC(), 2))
    with pytest.raises((ValueError, RuntimeError), match="of my own"):
        use(Broken())


@pytest.mark.parametrize("make", [lightgbm_objective, lightgbm_metric])
def test_the_arrays_of_a_scikit_learn_wrapper_are_refused(make) -> None:
    wrapper = {"objective": make("ap")} if make is lightgbm_objective else {}
    model = LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1, **wrapper)
    X, y = np.arange(80.0)[:, None], np.arange(80) % 4 == 0
    given = {} if wrapper else {"eval_metric": make("ap"), "eval_X": X, "eval_y": y}
    with pytest.raises(ValueError, match=r"for lightgbm.train.*use rankwise.estimators.Boosted"):
        model.fit(X, y, **given)


def test_bare_ap_is_the_one_for_logits_and_options_are_kept() -> None:
    assert stateless_objective("AP").score_scale == 1.0
    assert stateless_objective("ap(score_scale=auto)").score_scale == "auto"
    assert float(stateless_objective("ap", prior=0.1).prior) == pytest.approx(0.1)
    assert repr(lightgbm_objective("auc", blend=0.5)) == "BoosterObjective('auc', blend=0.5)"


@pytest.mark.parametrize(
    ("name", "surrogate"),
    [
        ("opauc(max_fpr=.2)", Logistic(1.0)),
        ("OPAUC(.2, min_fpr=.1)", Logistic(1.0)),
        ("opauc(.2, surrogate=Hinge(0.5))", Hinge(0.5)),
        ("opauc(.2, form=kl)", None),
    ],
)
def test_partial_auc_is_logistic_unless_its_loss_is_given(name, surrogate) -> None:
    assert stateless_objective(name).options.get("surrogate") == surrogate


@pytest.mark.parametrize("options", [{"warm_rounds": -1}, {"blend": 2.0}, {"curvature": "x"}])
def test_wrong_options_are_named(options) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        lightgbm_objective("ap", **options)


@pytest.mark.parametrize("made", [lightgbm_objective, xgboost_objective])
def test_an_objective_may_be_passed_in_place_of_its_name(made) -> None:
    X, y = table()
    data = xgb.DMatrix(X, y) if made is xgboost_objective else lgb.Dataset(X, y).construct()
    scores = X[:, 0]
    by_name = made("auc(surrogate=hinge(2.0))")(scores, data)
    by_object = made(PairwiseAUC(Hinge(2.0)))(scores, data)
    np.testing.assert_array_equal(by_name, by_object)


@pytest.mark.parametrize("made", [lightgbm_objective, xgboost_objective])
def test_an_objective_without_a_name_need_not_be_kept(made) -> None:
    X, y = table()
    data = xgb.DMatrix(X, y) if made is xgboost_objective else lgb.Dataset(X, y).construct()
    kept = XRisk(Logistic(1.0), outer=torch.log1p)
    temporary = made(XRisk(Logistic(1.0), outer=torch.log1p))(X[:, 0], data)
    np.testing.assert_array_equal(temporary, made(kept)(X[:, 0], data))


@pytest.mark.parametrize("name", ["tpr_at_fpr(.05)", "recall_at_precision(.6)", "pu_auc(.1)"])
@pytest.mark.parametrize("seed", [0, 1])
def test_scores_of_a_sigmoid_stay_those_of_logits(name, seed) -> None:
    X, y = table(1500, seed)
    booster = lgb.train({**QUIET, "objective": lightgbm_objective(name)}, lgb.Dataset(X, y), 15)
    assert np.ptp(booster.predict(X, raw_score=True)) < 50
    data = xgb.DMatrix(X, y)
    booster = xgb.train(DEEP, data, 15, obj=xgboost_objective(name))
    assert np.ptp(booster.predict(data, output_margin=True)) < 50
