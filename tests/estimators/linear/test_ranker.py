from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from tests.estimators.generated import misspecified

from rankwise.estimators import LinearRanker


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_objective_beats_log_loss_where_the_model_is_wrong(seed: int) -> None:
    X, y = misspecified(3000, seed)
    whole = {"validation_fraction": 0.0}
    log_loss = LinearRanker("log_loss", **whole).fit(X, y).score(X, y)
    assert LinearRanker("ap", **whole).fit(X, y).score(X, y) > log_loss + 0.02


def test_and_on_rows_it_has_not_seen(many_rows) -> None:
    X, y = misspecified(20_000, 9)
    found = {
        o: LinearRanker(o, random_state=0).fit(*many_rows).score(X, y) for o in ("log_loss", "ap")
    }
    assert found["ap"] > found["log_loss"] + 0.02


@pytest.mark.parametrize(
    "objective", ["ap", "auc", "opauc(.05)", "tpauc(.5, .1)", "pap@20", "ndcg@50"]
)
def test_never_worse_than_its_start_on_the_training_rows(objective: str, rows) -> None:
    X, y = rows
    whole = {"validation_fraction": 0.0}
    ranker = LinearRanker(objective, **whole).fit(X, y)
    start = LinearRanker("log_loss", metric=ranker._metric_name, **whole).fit(X, y)
    assert ranker.score(X, y) >= start.score(X, y)


def test_the_start_is_kept_where_the_rows_held_out_are_ranked_worse() -> None:
    # Thirty columns of noise and few positives: their order can be learned by heart.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))
    y = (X[:, 0] + rng.normal(size=300) > 1.9).astype(int)
    options = {"random_state": 0, "alpha": 0.1, "proximity": 0.0}
    start = LinearRanker("log_loss", **options).fit(X, y)
    judged = LinearRanker("ap", **options).fit(X, y)
    by_heart = LinearRanker("ap", validation_fraction=0.0, **options).fit(X, y)
    np.testing.assert_array_equal(judged.coef_, start.coef_)
    assert by_heart.score(X, y) > start.score(X, y) + 0.05
    new = rng.normal(size=(20_000, 30))
    y_new = (new[:, 0] + rng.normal(size=20_000) > 1.9).astype(int)
    assert judged.score(new, y_new) > by_heart.score(new, y_new) + 0.02


def test_log_loss_is_logistic_regression(rows) -> None:
    X, y = rows
    X = (X - X.mean(0)) / X.std(0)
    ours = LinearRanker("log_loss", alpha=0.01, tolerance=1e-9, validation_fraction=0.0).fit(X, y)
    # scikit-learn: C · Σ loss + ‖w‖²/2; ours: Σ loss / n + α ‖w‖²/2.
    theirs = LogisticRegression(C=1 / (0.01 * len(y)), tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4)


@pytest.mark.parametrize("objective", ["log_loss", "ap", "auc"])
def test_a_weight_is_that_many_rows(objective: str, rows) -> None:
    X, y = rows
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    once = LinearRanker(objective, random_state=0).fit(X, y, sample_weight=weight)
    many = LinearRanker(objective, random_state=0).fit(X.repeat(weight, 0), y.repeat(weight))
    np.testing.assert_allclose(once.predict_proba(X), many.predict_proba(X), rtol=1e-4, atol=1e-6)


def test_the_units_of_the_columns_do_not_matter(rows) -> None:
    X, y = rows
    whole = {"validation_fraction": 0.0, "random_state": 0}
    one = LinearRanker(**whole).fit(X, y)
    other = LinearRanker(**whole).fit(X * [1e3, 1e-3, 7] + [1e4, 0, -3], y)
    np.testing.assert_allclose(other.coef_ * [1e3, 1e-3, 7], one.coef_, rtol=1e-3, atol=1e-5)


def test_sparse_rows_need_no_dense_copy(rows, monkeypatch) -> None:
    X, y = rows
    sparse = csr_array(np.where(X > 0, X, 0))
    monkeypatch.setattr(csr_array, "toarray", lambda self: pytest.fail("made dense"))
    ranker = LinearRanker(random_state=0).fit(sparse, y)
    assert ranker.score(sparse, y) > 0.2


def test_single_precision_rows_and_large_ones(rows, monkeypatch) -> None:
    X, y = rows
    wide = LinearRanker(random_state=0).fit(X, y)
    monkeypatch.setattr("rankwise.estimators.linear._search._BIG", 0)
    narrow = LinearRanker(random_state=0).fit(X, y)
    assert narrow.score(X, y) == pytest.approx(wide.score(X, y), abs=0.01)


def test_from_zero(rows) -> None:
    X, y = rows
    ranker = LinearRanker(start="zero", random_state=0).fit(X, y)
    assert (
        ranker.score(X, y) > LinearRanker("log_loss", random_state=0).fit(X, y).score(X, y) - 0.02
    )
    assert ranker.n_iter_ >= 3


def test_a_large_proximity_stays_at_the_start(rows) -> None:
    X, y = rows
    start = LinearRanker("log_loss", random_state=0).fit(X, y)
    near = LinearRanker(proximity=1e6, random_state=0).fit(X, y)
    same = np.corrcoef(start.decision_function(X), near.decision_function(X))[0, 1]
    assert same == pytest.approx(1, abs=1e-6)


def test_a_constant_table_has_a_model(rows) -> None:
    _, y = rows
    assert np.isfinite(
        LinearRanker().fit(np.ones((len(y), 2)), y).predict_proba(np.ones((3, 2)))
    ).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": -1.0}, "alpha must be"),
        ({"proximity": np.nan}, "proximity must be"),
        ({"start": "one"}, "start must be one of"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tolerance": 0.0}, "tolerance must be"),
        ({"objective": "soap"}, 'use "ap"'),
    ],
)
def test_options_that_are_refused(options: dict, message: str, rows) -> None:
    with pytest.raises(ValueError, match=message):
        LinearRanker(**options).fit(*rows)
