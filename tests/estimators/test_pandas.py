"""The rankers with data frames of pandas: words, gaps, and the names of the columns."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker, Ranker

NEURAL = NeuralRanker(hidden=(8,), epochs=20, learning_rate=0.03, random_state=0)
LIGHTGBM = BoostedRanker(n_estimators=20, random_state=0, n_jobs=1)
XGBOOST = BoostedRanker(n_estimators=20, engine="xgboost", random_state=0, n_jobs=1)
LINEAR = LinearRanker(max_iter=30, random_state=0)
EVERY = [LINEAR, NEURAL, LIGHTGBM, XGBOOST]
NAMES = ["shop", "amount", "kind", "flag", "count"]


def table(n: int = 400, seed: int = 0, words: Any = "str") -> tuple[pd.DataFrame, pd.Series]:
    """Words, categories, numbers, truth values and whole numbers, each but the truth with gaps."""
    rng = np.random.default_rng(seed)
    shop = rng.choice(["ada", "bob", "cy", "dee"], n)
    y = (shop == "cy") & (rng.random(n) < 0.8)
    frame = pd.DataFrame(
        {
            "shop": pd.Series(shop).astype(words),
            "amount": rng.normal(size=n),
            "kind": pd.Categorical(rng.choice(["x", "y"], n)),
            "flag": rng.random(n) < 0.5,
            "count": pd.array(rng.integers(0, 5, n), dtype="Int64"),
        }
    )
    for name in ("shop", "amount", "kind", "count"):
        frame.loc[rng.random(n) < 0.05, name] = None
    return frame, pd.Series(np.where(y, "fraud", "fine"), index=rng.permutation(n))


def numbers(n: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    return frame, (frame["a"] + rng.normal(size=n) > 1.5).to_numpy().astype(int)


@pytest.mark.parametrize("words", ["str", "object", "string", "category"])
@pytest.mark.parametrize("made", EVERY, ids=["linear", "neural", "lightgbm", "xgboost"])
def test_words_categories_and_gaps(made: Ranker, words: str, tmp_path: Any) -> None:
    X, y = table(words=words)
    made.fit(X, y)
    assert made.feature_names_in_.tolist() == NAMES
    assert made.categories_[0].tolist() == ["ada", "bob", "cy", "dee"]
    assert made.categories_[2].tolist() == ["x", "y"]
    assert made.classes_.tolist() == ["fine", "fraud"]
    new, y_new = table(seed=1, words=words)
    assert made.score(new, y_new) > 0.6
    assert set(made.predict(new)) == {"fine", "fraud"}
    read = Ranker.load(made.save(tmp_path / "model"))
    np.testing.assert_array_equal(read.predict_proba(new), made.predict_proba(new))
    assert read.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("made", EVERY, ids=["linear", "neural", "lightgbm", "xgboost"])
def test_rows_are_the_same_alone_and_with_words_that_are_new(made: Ranker) -> None:
    X, y = table()
    scores = made.fit(X, y).decision_function(X)
    np.testing.assert_allclose(made.decision_function(X.iloc[7:9]), scores[7:9], rtol=1e-6)
    new = X.assign(shop="zoe")  # never seen, as if it were missing
    missing = X.assign(shop=pd.Series([None] * len(X), dtype="str"))
    np.testing.assert_array_equal(made.decision_function(new), made.decision_function(missing))


@pytest.mark.parametrize("made", EVERY, ids=["linear", "neural", "lightgbm", "xgboost"])
@pytest.mark.parametrize("mixed", [True, False], ids=["words", "numbers"])
def test_columns_in_another_order_are_refused_as_scikit_learn_does(
    made: Ranker, mixed: bool
) -> None:
    X, y = table()
    X = X if mixed else X[["amount", "flag", "count"]]
    made.fit(X, y)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        made.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        made.predict(X.drop(columns="amount"))


def test_the_linear_ranker_keeps_names_and_refuses_another_order() -> None:
    X, y = numbers()
    made = LINEAR.fit(X, y)
    assert made.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        made.predict(X[["b", "a"]])


@pytest.mark.parametrize("made", EVERY, ids=["linear", "neural", "lightgbm", "xgboost"])
def test_a_frame_is_its_numbers(made: Ranker) -> None:
    X, y = numbers()
    by_name = made.fit(X, y).decision_function(X)
    by_place = made.fit(X.to_numpy(), y).decision_function(X.to_numpy())
    np.testing.assert_array_equal(by_name, by_place)
    for kind in ("Float64", "object"):
        np.testing.assert_array_equal(made.fit(X.astype(kind), y).decision_function(X), by_name)


@pytest.mark.parametrize("made", EVERY, ids=["linear", "neural", "lightgbm", "xgboost"])
@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_numbers_as_objects_with_any_kind_of_gap(made: Ranker, gap: Any) -> None:
    X, y = numbers()
    gone = np.arange(len(X)) % 7 == 0
    plain = X.assign(a=X["a"].mask(gone))
    objects = X.assign(a=pd.Series(np.where(gone, gap, X["a"].astype(object)), dtype=object))
    wanted = made.fit(plain, y).decision_function(plain)
    np.testing.assert_array_equal(made.fit(objects, y).decision_function(objects), wanted)
    assert made.categories_ == {}
    assert objects["a"].dtype == object  # the caller's table is as it was


@pytest.mark.parametrize(
    "column",
    [
        pd.date_range("2020-01-01", periods=200),
        pd.date_range("2020-01-01", periods=200, tz="Europe/Berlin"),
        pd.timedelta_range("1D", periods=200),
        pd.period_range("2020-01-01", periods=200),
        [datetime.date(2020, 1, 1) + datetime.timedelta(days) for days in range(200)],
    ],
    ids=["date", "zone", "span", "period", "objects"],
)
@pytest.mark.parametrize("made", EVERY, ids=["linear", "neural", "lightgbm", "xgboost"])
def test_dates_and_spans_are_learned_from(made: Ranker, column: Any) -> None:
    late = (np.arange(200) >= 150).astype(int)
    X = pd.DataFrame({"when": column})
    assert made.fit(X, late).score(X, late) > 0.95


def test_intervals_are_refused_by_name() -> None:
    X, y = numbers()
    with pytest.raises(ValueError, match="column 'when' of X holds values of type interval"):
        LINEAR.fit(X.assign(when=pd.interval_range(0, 200)), y)


def test_inside_a_pipeline_and_cross_validation() -> None:
    X, y = table()
    words = X[["shop", "kind"]].astype(object).fillna("none")
    model = make_pipeline(OneHotEncoder(), LINEAR)
    found = cross_val_predict(model, words, y, method="decision_function", cv=3)
    fraud = (y == "fraud").to_numpy()
    assert found[fraud].mean() > found[~fraud].mean()
    whole = cross_val_predict(LIGHTGBM, X, y, method="predict_proba", cv=3)
    assert whole[fraud, 1].mean() > whole[~fraud, 1].mean()
