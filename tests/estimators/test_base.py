from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankwise.estimators import LinearRanker, NeuralRanker

SMALL = {"hidden": (8,), "epochs": 12, "batch_size": 128, "learning_rate": 0.03}
RANKERS = [LinearRanker(random_state=0), NeuralRanker(**SMALL, random_state=0)]
both = pytest.mark.parametrize("ranker", RANKERS, ids=["linear", "neural"])


@both
def test_the_same_rows_and_state_give_the_same_model(ranker, rows) -> None:
    X, y = rows
    one, other = (clone(ranker).fit(X, y).decision_function(X) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@both
def test_in_a_pipeline_a_search_and_cross_validation(ranker, rows) -> None:
    X, y = rows
    pipeline = make_pipeline(StandardScaler(), clone(ranker))
    assert pipeline.fit(X, y).score(X, y) > 0.3
    search = GridSearchCV(clone(ranker), {"objective": ["log_loss", "ap"]}, cv=2).fit(X, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    found = cross_val_predict(clone(ranker), X, y, cv=2, method="predict_proba")
    assert found.shape == (len(y), 2)
    assert average_precision_score(y, found[:, 1]) > 0.25
    assert cross_val_score(clone(ranker), X, y, cv=2).min() > 0.2


@both
def test_kinds_of_tables_agree(ranker, rows) -> None:
    X, y = rows
    wanted = clone(ranker).fit(X, y).decision_function(X)
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    named = clone(ranker).fit(frame, pl.Series(y))
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(named.decision_function(frame), wanted)
    np.testing.assert_allclose(
        clone(ranker).fit(X.tolist(), y.tolist()).decision_function(X), wanted
    )
    for kind in (csr_array, csr_matrix):
        sparse = kind(np.where(np.abs(X) > 0.5, X, 0))
        dense = clone(ranker).fit(sparse.toarray(), y)
        found = clone(ranker).fit(sparse, y)
        at_all = np.corrcoef(found.decision_function(sparse), dense.decision_function(sparse))
        assert at_all[0, 1] > 0.99


@both
def test_score_is_the_metric_of_the_objective(ranker, rows) -> None:
    X, y = rows
    fitted = clone(ranker).fit(X, y)
    scores, weight = fitted.decision_function(X), np.linspace(1, 2, len(y))
    assert fitted.score(X, y) == pytest.approx(average_precision_score(y, scores))
    wanted = average_precision_score(y, scores, sample_weight=weight)
    assert fitted.score(X, y, sample_weight=weight) == pytest.approx(wanted)
    assert fitted.set_params(metric="auc").score(X, y) == pytest.approx(roc_auc_score(y, scores))


def test_held_out_rows_choose_and_are_not_learned_from(rows) -> None:
    X, y = rows
    ranker = LinearRanker(random_state=0, validation_fraction=0.25).fit(X, y)
    assert ranker.held_out_ == pytest.approx(len(y) / 4, abs=2)
    assert ranker.prior_ == y.mean()
    assert LinearRanker(validation_fraction=0).fit(X, y).held_out_ == 0
    lonely = LinearRanker().fit(np.arange(4.0)[:, None], [0, 0, 0, 1])
    assert lonely.held_out_ == 0
    assert lonely.predict([[3.0]]).tolist() == [1]


def test_probabilities_are_calibrated(many_rows) -> None:
    X, y = many_rows
    for calibration in ("sigmoid", "isotonic"):
        ranker = LinearRanker(calibration=calibration, random_state=0).fit(X, y)
        found = ranker.predict_proba(X)
        np.testing.assert_allclose(found.sum(1), 1)
        assert found[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)
        order = np.argsort(ranker.decision_function(X))
        assert (np.diff(found[order, 1]) >= 0).all()


@pytest.mark.parametrize("rule", ["f1", "precision>=0.5", "fpr<=0.02", "top=7", 0.2, 0.5], ids=str)
def test_rules_of_predict(rule, many_rows) -> None:
    X, y = many_rows
    words = np.where(y == 1, "yes", "no")
    ranker = LinearRanker(threshold=rule, random_state=0).fit(X, words)
    positive = ranker.predict(X) == "yes"
    assert set(ranker.predict(X)) <= {"yes", "no"}
    if rule == "top=7":
        assert positive.sum() == 7
        assert (
            ranker.decision_function(X)[positive].min() > np.sort(ranker.decision_function(X))[-8]
        )
    else:
        np.testing.assert_array_equal(positive, ranker.decision_function(X) > 0)
    if isinstance(rule, float):
        np.testing.assert_array_equal(positive, ranker.predict_proba(X)[:, 1] > rule)
    if rule == "fpr<=0.02":
        assert positive[y == 0].mean() < 0.04
    if rule == "precision>=0.5":
        assert y[positive].mean() > 0.4


def _lists(n: int = 40, size: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n * size, 3))
    relevance = np.clip(np.round(X[:, 0] + 0.5 * rng.normal(size=len(X))), 0, 3)
    return X, relevance, np.repeat([f"q{i}" for i in range(n)], size)


@both
def test_lists_with_graded_relevances(ranker) -> None:
    X, relevance, groups = _lists()
    fitted = clone(ranker).set_params(objective="ndcg").fit(X, relevance, groups=groups)
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.held_out_ == 8 * 12
    scores, degrees = fitted.decision_function(X).reshape(40, 12), relevance.reshape(40, 12)
    some = degrees.any(axis=1)
    wanted = ndcg_score(2 ** degrees[some] - 1, scores[some])
    assert fitted.score(X, relevance, groups=groups) == pytest.approx(wanted)
    assert wanted > 0.8
    relevant = fitted.predict_proba(X)[:, 1].mean()
    assert relevant == pytest.approx((relevance > 0).mean(), abs=0.1)


@both
def test_lists_with_two_classes(ranker) -> None:
    X, relevance, groups = _lists()
    y = relevance > 1
    fitted = clone(ranker).fit(X, y, groups=groups)
    shifted = X + 100.0 * np.repeat(np.random.default_rng(1).normal(size=(40, 1)), 12, axis=0)
    assert fitted.score(X, y, groups=groups) > 0.7
    alone = clone(ranker).fit(shifted, y, groups=groups)
    assert np.isfinite(alone.decision_function(shifted)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "apple_pie"}, "no objective is called"),
        ({"metric": "apple_pie"}, "no metric is called"),
        ({"calibration": "magic"}, "calibration must be one of"),
        ({"validation_fraction": 1.0}, "validation_fraction must be in"),
        ({"validation_fraction": "half"}, "validation_fraction must be in"),
        ({"threshold": "best"}, "threshold 'best' is not a rule"),
    ],
)
@both
def test_options_that_are_refused(ranker, options, message, rows) -> None:
    with pytest.raises(ValueError, match=message):
        clone(ranker).set_params(**options).fit(*rows)


@both
def test_targets_that_are_refused(ranker, rows) -> None:
    X, y = rows
    cases = [
        (np.ones(len(y)), "only one class"),
        (np.where(y == 1, np.nan, 0), "NaN"),
        (y[:-1], "inconsistent"),
    ]
    for bad, message in cases:
        with pytest.raises(ValueError, match=message):
            clone(ranker).fit(X, bad)
    with pytest.raises(ValueError, match="Only binary classification"):
        clone(ranker).set_params(objective="ndcg").fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="both classes among the rows with a weight"):
        clone(ranker).fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match="groups must have one id per row"):
        clone(ranker).fit(X, y, groups=[1, 2])


@both
def test_rows_that_are_refused(ranker, rows) -> None:
    X, y = rows
    fitted = clone(ranker).fit(pl.DataFrame(X, schema=["a", "b", "c"]), y)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(pl.DataFrame(X, schema=["a", "c", "b"]))
    with pytest.raises(ValueError, match="not fitted"):
        clone(ranker).predict(X)
    with pytest.raises(ValueError, match="only the classes"):
        fitted.score(pl.DataFrame(X, schema=["a", "b", "c"]), y + 5)
    with pytest.raises(ValueError, match="infinity"):
        clone(ranker).fit(np.where(X > 2, np.inf, X), y)


def test_scores_that_are_not_finite_are_refused(rows, monkeypatch) -> None:
    monkeypatch.setattr(LinearRanker, "_scores", lambda self, X: np.full(len(X), np.nan))
    with pytest.raises(ValueError, match="scores of LinearRanker are not finite"):
        LinearRanker().fit(*rows)
