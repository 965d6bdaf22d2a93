from __future__ import annotations

import copy
import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankwise.estimators import BoostedRanker, Ranker
from rankwise.estimators._holdout import folds_of
from rankwise.estimators.data import Part
from rankwise.metrics import average_precision, ndcg

SMALL = {"n_estimators": 25, "num_leaves": 7, "n_jobs": 1, "random_state": 0}
ENGINES = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])


@parametrize_with_checks([BoostedRanker(n_estimators=20, n_jobs=1, engine="xgboost")])
def test_xgboost_passes_check_estimator_too(estimator, check) -> None:
    check(estimator)


def fitted(rows, **options) -> BoostedRanker:
    return BoostedRanker(**{**SMALL, **options}).fit(*rows)


@ENGINES
@pytest.mark.parametrize(
    "objective", ["ap", "auc", "opauc(max_fpr=.2)", "pap@20", "ndcg", "log_loss"]
)
def test_it_learns(rows, engine, objective) -> None:
    X, y = rows
    model = fitted(rows, engine=engine, objective=objective)
    assert average_precision(model.decision_function(X), y) > 3 * y.mean()
    assert 1 <= model.n_trees_ <= 25 * len(model.texts_)
    assert set(model.predict(X)) == {0, 1}


@ENGINES
@pytest.mark.parametrize("stops", [5, None])
def test_the_score_is_the_mean_of_trees_of_the_objective_and_of_log_loss(
    rows, engine, stops
) -> None:
    options = {"engine": engine, "early_stopping_rounds": stops}

    def scores(**more):
        model = fitted(rows, **options, **more)
        return model.decision_function(rows[0]) + model.threshold_, model

    plain, first = scores(objective="log_loss", metric="ap")
    metric, second = scores(blend=1.0)
    both, model = scores(blend=0.5)
    np.testing.assert_allclose(both, (plain + metric) / 2, atol=1e-5)
    assert model.n_trees_ == first.n_trees_ + second.n_trees_
    default, chosen = scores()
    np.testing.assert_allclose(default, both, atol=1e-5)
    assert chosen.blend_ == 0.5
    assert list(chosen.texts_) == ["trees", "log_loss_trees"]
    third, _ = scores(blend=0.25)
    np.testing.assert_allclose(third, 0.75 * plain + 0.25 * metric, atol=1e-5)
    alone, model = scores(blend=0.0)
    np.testing.assert_allclose(alone, plain, atol=1e-5)
    assert list(model.texts_) == ["log_loss_trees"]


def test_log_loss_stays_alone_where_it_is_clearly_better(rows, tmp_path, monkeypatch) -> None:
    asked = []

    def better(alone, mean, part, metric, seed):
        asked.append((metric(alone, part), metric(mean, part)))
        return True

    monkeypatch.setattr("rankwise.estimators.boosted.clearly_better", better)
    mean, plain = (fitted(rows, early_stopping_rounds=5, blend=blend) for blend in (0.5, 0.0))
    assert asked == []  # a weight that was given is used
    chosen = fitted(rows, early_stopping_rounds=5)
    assert asked == [(plain.best_value_, mean.best_value_)]
    assert chosen.blend_ == 0
    assert chosen.n_trees_ == plain.n_trees_
    assert chosen.best_value_ == plain.best_value_
    again = Ranker.load(chosen.save(tmp_path / "model"))
    assert isinstance(again, BoostedRanker)
    assert again.blend_ == 0
    for model in (plain, again):
        np.testing.assert_array_equal(
            model._scores(np.asarray(rows[0])), chosen._scores(np.asarray(rows[0]))
        )


@ENGINES
def test_folds_are_the_mean_of_models_that_each_hold_out_one_part(rows, engine, tmp_path) -> None:
    X, y = np.asarray(rows[0]), np.asarray(rows[1])
    options = {"engine": engine, "early_stopping_rounds": 5, "metric": "ap", "blend": 0.5}
    model = fitted(rows, **options, folds=3)
    data = model._training(Part(X, y.astype(float)))
    of_row = folds_of(data.train, 3, data.seed)
    assert sorted(set(of_row.tolist())) == [0, 1, 2]
    each = []
    for fold in range(3):
        held = of_row == fold
        one = BoostedRanker(**{**SMALL, **options})
        one.preparation_, one.classes_ = model.preparation_, model.classes_
        parts = data.train.rows(~held), data.train.rows(held)
        one._fit_scores(replace(data, train=parts[0], held_out=parts[1], seed=data.seed + fold))
        each.append(one._scores(X))
    np.testing.assert_allclose(model._scores(X), np.mean(each, axis=0), atol=1e-5)
    out_of_fold = np.choose(of_row, each)
    np.testing.assert_allclose(model._scores_held_out(data), out_of_fold, atol=1e-5)
    assert model.held_out_ == len(y)
    assert model.best_value_ == pytest.approx(data.evaluate(model._scores_held_out(data)))
    assert len(model.texts_) == 6
    assert model.feature_importances_.sum() == pytest.approx(1)
    again = Ranker.load(model.save(tmp_path / "model"))
    assert (again.decision_function(rows[0]) == model.decision_function(rows[0])).all()


def test_log_loss_stays_alone_in_all_folds_where_it_is_clearly_better(rows, monkeypatch) -> None:
    monkeypatch.setattr("rankwise.estimators.boosted.clearly_better", lambda *_: True)
    chosen = fitted(rows, early_stopping_rounds=5, folds=2)
    plain = fitted(rows, early_stopping_rounds=5, folds=2, blend=0.0)
    assert list(chosen.texts_) == ["fold_0_log_loss_trees", "fold_1_log_loss_trees"]
    assert (chosen.blend_, chosen.n_trees_) == (0.0, plain.n_trees_)
    X = np.asarray(rows[0])
    np.testing.assert_array_equal(chosen._scores(X), plain._scores(X))


def test_calibration_of_folds_uses_scores_of_rows_held_out(rows) -> None:
    X, y = rows
    noise = np.random.default_rng(0).normal(size=np.shape(X))  # nothing to learn from
    model = BoostedRanker(**SMALL, folds=3, early_stopping_rounds=None).fit(noise, y)
    alone = BoostedRanker(**SMALL, validation_fraction=0, early_stopping_rounds=None).fit(noise, y)
    # Scores of rows that were learned from look like knowledge; those held out do not.
    assert np.ptp(model.predict_proba(noise)[:, 1]) < 0.5 * np.ptp(alone.predict_proba(noise)[:, 1])


def test_folds_take_no_validation_and_need_enough_rows(rows) -> None:
    X, y = rows
    with pytest.raises(ValueError, match="folds=2 holds out every row of X once"):
        BoostedRanker(**SMALL, folds=2).fit(X, y, validation=(X, y))
    with pytest.raises(ValueError, match="folds must be at most the number of different positive"):
        BoostedRanker(**SMALL, folds=int(np.sum(y)) + 1).fit(X, y)
    with pytest.raises(ValueError, match="folds"):
        BoostedRanker(**SMALL, folds=0).fit(X, y)


@pytest.mark.parametrize("objective", ["focal", "log_loss"])
def test_a_loss_of_items_is_not_joined_with_log_loss(rows, objective) -> None:
    assert list(fitted(rows, objective=objective).texts_) == ["trees"]


@ENGINES
def test_best_value_is_that_of_the_mean(many_rows, engine) -> None:
    model = fitted(many_rows, engine=engine, early_stopping_rounds=5)
    one = fitted(many_rows, engine=engine, n_estimators=1, objective="log_loss")
    assert one.best_value_ < model.best_value_ <= 1


@ENGINES
def test_early_stopping_goes_up(many_rows, engine) -> None:
    options = {"engine": engine, "blend": 1.0}
    stopped = fitted(many_rows, **options, n_estimators=80, early_stopping_rounds=5)
    one = fitted(many_rows, **options, n_estimators=1)
    assert stopped.n_trees_ < 80
    assert stopped.best_value_ > one.best_value_
    whole = fitted(many_rows, **options, n_estimators=12, early_stopping_rounds=None)
    assert whole.n_trees_ == 12
    assert whole.best_value_ is None


def test_warm_rounds_are_log_loss(rows) -> None:
    X = rows[0]
    options = {"early_stopping_rounds": None, "n_estimators": 10, "blend": 1.0}
    scores = {
        warm: fitted(rows, **options, warm_rounds=warm).decision_function(X)
        for warm in (0, 5, 10, None)
    }
    assert (scores[5] == scores[None]).all()  # half of the trees without early stopping
    assert (scores[0] != scores[5]).any()
    plain = fitted(rows, **{**options, "objective": "log_loss"})
    assert (scores[10] == plain.decision_function(X)).all()


@ENGINES
def test_log_loss_first_is_never_below_it_on_the_rows_held_out(rows, engine) -> None:
    plain = fitted(rows, engine=engine, objective="log_loss", metric="ap")
    ours = fitted(rows, engine=engine, blend=1.0, warm_rounds=None)
    assert ours.best_value_ >= plain.best_value_


@ENGINES
def test_saved_and_loaded_it_scores_the_same(rows, engine, tmp_path) -> None:
    X = rows[0]
    model = fitted(rows, engine=engine, blend=0.5)
    back = Ranker.load(model.save(tmp_path / "model.rankwise"))
    assert isinstance(back, BoostedRanker)
    assert (back.decision_function(X) == model.decision_function(X)).all()
    assert (back.predict_proba(X) == model.predict_proba(X)).all()
    assert back.n_trees_ == model.n_trees_
    assert back.best_value_ == model.best_value_
    with zipfile.ZipFile(tmp_path / "model.rankwise") as file:
        texts = {name: file.read(f"model.{name}.txt").decode() for name in model.texts_}
    assert texts == model.texts_
    assert list(texts) == ["trees", "log_loss_trees"]
    for text in texts.values():
        assert text.startswith("tree") if engine == "lightgbm" else "learner" in json.loads(text)


@ENGINES
def test_a_file_with_broken_trees_is_refused(rows, engine, tmp_path) -> None:
    model = fitted(rows, engine=engine)
    model._texts["trees"] = "broken"
    path = model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"is not a model that Ranker\.save wrote: the trees are"):
        Ranker.load(path)


@ENGINES
def test_copies_score_the_same(rows, engine) -> None:
    X = rows[0]
    model = fitted(rows, engine=engine)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert (twin.decision_function(X) == model.decision_function(X)).all()
    again = clone(model).fit(*rows)
    assert (again.decision_function(X) == model.decision_function(X)).all()


@ENGINES
def test_missing_values_and_categories(engine) -> None:
    rng = np.random.default_rng(0)
    word = rng.choice(["a", "b", "c", "d"], 500)
    number = rng.normal(size=500)
    y = np.isin(word, ["b", "d"]) & (rng.random(500) < 0.8)
    table = pl.DataFrame({"number": number, "word": word}).with_columns(
        pl.when(pl.col("number") > 1).then(None).otherwise(pl.col("number")).alias("number")
    )
    model = fitted((table, y), engine=engine, min_child_samples=5)
    assert model.score(table, y) > 0.75
    unknown = pl.DataFrame({"number": [0.0], "word": ["never seen"]})
    assert np.isfinite(model.decision_function(unknown)).all()


@ENGINES
def test_sparse_rows(rows, engine) -> None:
    X = np.where(np.abs(rows[0]) > 0.5, rows[0], 0)
    model = fitted((csr_array(X), rows[1]), engine=engine)
    assert model.score(csr_array(X), rows[1]) > 3 * rows[1].mean()
    if engine == "lightgbm":
        np.testing.assert_allclose(
            model.decision_function(X), model.decision_function(csr_array(X))
        )


@ENGINES
def test_lists_of_graded_relevances(engine) -> None:
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(600, 3)), rng.permutation(np.repeat(np.arange(30), 20))
    y = np.clip(np.round(X[:, 0] + 0.3 * rng.normal(size=600) + 0.5), 0, 3)
    options = {**SMALL, "engine": engine, "min_child_samples": 5}
    model = BoostedRanker("ndcg@5", **options).fit(X, y, groups=groups)
    found = model.score(X, y, groups=groups)
    by_chance = float(ndcg(rng.random(600), y, k=5, groups=groups))
    assert found > max(0.85, by_chance + 0.2)


@ENGINES
def test_a_weight_of_zero_is_a_row_that_is_not_there(rows, engine) -> None:
    X, y = rows
    weight = np.ones(len(y))
    weight[::4] = 0
    some = BoostedRanker(**SMALL, engine=engine).fit(X, y, sample_weight=weight)
    rest = BoostedRanker(**SMALL, engine=engine).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(some.decision_function(X), rest.decision_function(X))


def test_weights_are_heard(rows) -> None:
    X, y = rows
    doubt = np.where(X[:, 1] > 1, 0.1, 1.0)
    plain = fitted(rows).decision_function(X)
    heard = BoostedRanker(**SMALL).fit(X, y, sample_weight=doubt).decision_function(X)
    assert (plain != heard).any()


def test_works_where_scikit_learn_puts_it(rows) -> None:
    X, y = rows
    model = BoostedRanker(**{**SMALL, "n_estimators": 5})
    search = GridSearchCV(model, {"num_leaves": [3, 7]}, cv=2).fit(X, y)
    assert search.best_score_ > y.mean()
    pipeline = make_pipeline(StandardScaler(), model)
    assert cross_val_predict(pipeline, X, y, cv=2, method="predict_proba").shape == (len(y), 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "catboost"}, "engine must be one of 'lightgbm', 'xgboost'"),
        ({"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        ({"num_leaves": 1}, "num_leaves must be a whole number >= 2"),
        ({"learning_rate": 0}, "learning_rate must be a finite number > 0"),
        ({"subsample": 0}, r"subsample must be in \(0, 1\]"),
        ({"colsample": 1.5}, r"colsample must be in \(0, 1\]"),
        ({"reg": -1}, "reg must be a finite number >= 0"),
        ({"blend": 2}, r"blend must be in \[0, 1\]"),
        ({"warm_rounds": -3}, "warm_rounds must be a whole number"),
        ({"early_stopping_rounds": 0}, "early_stopping_rounds must be a whole number >= 1"),
        ({"n_jobs": 0}, "n_jobs must be -1 or a number of threads >= 1"),
        ({"objective": "soap"}, 'remembers earlier batches.*use "ap"'),
    ],
)
def test_wrong_options_are_named(rows, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        fitted(rows, **options)


@ENGINES
def test_feature_importances_are_shares_of_gain_in_the_order_of_the_columns(engine) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = (2 * X[:, 2] + X[:, 1] + rng.normal(size=1500) > 2.5).astype(int)
    with pytest.raises(NotFittedError):
        _ = BoostedRanker().feature_importances_
    assert not hasattr(BoostedRanker(), "feature_importances_")
    for blend in (None, 0.0, 1.0):
        ranker = BoostedRanker(blend=blend, engine=engine, **SMALL).fit(X, y)
        found = ranker.feature_importances_
        assert found.shape == (ranker.n_features_in_,)
        assert found.sum() == pytest.approx(1)
        assert (found >= 0).all()
        assert np.argsort(-found)[:2].tolist() == [2, 1]
    chosen = SelectFromModel(BoostedRanker(engine=engine, **SMALL), max_features=2).fit(X, y)
    assert chosen.get_support().tolist() == [False, True, True, False]


@ENGINES
def test_feature_importances_are_loaded_and_zero_without_a_split(engine, tmp_path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(2, size=300)
    ranker = BoostedRanker(engine=engine, **SMALL).fit(X, y)
    loaded = Ranker.load(ranker.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.feature_importances_, ranker.feature_importances_)
    constant = BoostedRanker(engine=engine, **SMALL).fit(np.ones((300, 3)), y)
    np.testing.assert_array_equal(constant.feature_importances_, np.zeros(3))


def graded(n: int = 300):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 3))
    relevance = np.clip(np.round(X[:, 0] + 0.5 * rng.normal(size=n)), 0, 3)
    return X, relevance, np.arange(n) // 15


@ENGINES
def test_noise_is_seeded(engine) -> None:
    X, y, groups = graded()

    def scores(**options):
        options = {**SMALL, "blend": 1.0, "engine": engine, **options}
        return BoostedRanker("ndcg@5", **options).fit(X, y, groups=groups).decision_function(X)

    noisy = scores(noise=1.0)
    np.testing.assert_array_equal(noisy, scores(noise=1.0))
    assert not np.array_equal(noisy, scores(noise=1.0, random_state=1, early_stopping_rounds=None))
    assert not np.array_equal(noisy, scores())
    np.testing.assert_array_equal(scores(), scores(noise=0.0, samples=9))


def test_the_share_in_the_gradient_goes_from_log_loss_to_the_objective() -> None:
    X, y, groups = graded()
    options = {**SMALL, "early_stopping_rounds": None}

    def scores(**more):
        ranker = BoostedRanker("ndcg@5", **options, **more).fit(X, y, groups=groups)
        return ranker.decision_function(X)

    np.testing.assert_allclose(scores(blend=1.0, gradient_blend=0.0), scores(blend=0.0))
    half = scores(blend=1.0, gradient_blend=0.5)
    assert not np.allclose(half, scores(blend=1.0))
    assert not np.allclose(half, scores(blend=0.0))


def test_log_loss_beside_a_graded_objective_fits_the_relevances() -> None:
    X, y, groups = graded()
    options = {**SMALL, "early_stopping_rounds": None, "n_estimators": 100, "num_leaves": 15}
    model = BoostedRanker("ndcg@5", **options, blend=0.0).fit(X, y, groups=groups)
    share = 1 / (1 + np.exp(-model.decision_function(X) - model.threshold_))
    by_relevance = [share[y == relevance].mean() for relevance in range(3)]  # 3: of three rows
    np.testing.assert_allclose(by_relevance, [0, 1 / 3, 2 / 3], atol=0.12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": -0.5}, "noise must be a finite number >= 0"),
        ({"samples": 0}, "samples must be"),
        ({"gradient_blend": 1.2}, r"gradient_blend must be in \[0, 1\], got 1\.2"),
    ],
)
def test_options_of_the_gradient_are_checked(rows, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        fitted(rows, **options)
