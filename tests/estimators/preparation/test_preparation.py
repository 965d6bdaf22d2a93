"""One preparation: every ranker takes missing values, words, booleans, dates and text."""

from __future__ import annotations

import datetime
import json
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker, PApAtKRanker, Ranker
from rankwise.estimators.preparation import (
    Column,
    Preparation,
    columns_of,
    learn_preparation,
)

EVERY = [
    LinearRanker(max_iter=30, random_state=0),
    NeuralRanker(hidden=(8,), epochs=20, learning_rate=0.03, random_state=0),
    BoostedRanker(n_estimators=20, random_state=0, n_jobs=1),
    BoostedRanker(n_estimators=20, engine="xgboost", random_state=0, n_jobs=1),
    PApAtKRanker(max_iter=20, random_state=0),
]
IDS = ["linear", "neural", "lightgbm", "xgboost", "papk"]


def frame(rows: int = 300, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    """Numbers, words, truth values and times, each with gaps; the times and words decide."""
    rng = np.random.default_rng(seed)
    hours = rng.integers(0, 24 * 700, rows)
    word = rng.choice(["red", "green", "blue"], rows)
    made = pl.DataFrame(
        {
            "amount": rng.normal(size=rows),
            "word": word,
            "flag": rng.random(rows) < 0.5,
            "when": [
                datetime.datetime(2021, 1, 1) + datetime.timedelta(hours=int(h)) for h in hours
            ],
        }
    )
    gone = pl.Series(rng.random(rows) < 0.05)
    made = made.with_columns(pl.when(~gone).then(pl.all()))
    return made, ((word == "red") & (hours > 6000)).astype(int)


def as_pandas(table: pl.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({name: table[name].to_list() for name in table.columns})


def as_objects(table: pl.DataFrame) -> np.ndarray:
    return np.array(table.rows(), dtype=object)


@pytest.mark.parametrize("made", EVERY, ids=IDS)
def test_every_ranker_takes_missing_values_words_and_datetimes_of_pandas_and_polars(
    made: Ranker, tmp_path: Any
) -> None:
    X, y = frame()
    new, y_new = frame(seed=1)
    scores = clone(made).fit(X, y).decision_function(new)
    for convert in (as_pandas, as_objects, lambda table: [list(row) for row in table.rows()]):
        other = clone(made).fit(convert(X), y)
        np.testing.assert_allclose(other.decision_function(convert(new)), scores, rtol=1e-9)
    fitted = clone(made).fit(X, y)
    assert fitted.n_features_in_ == 4
    assert fitted.feature_names_in_.tolist() == X.columns
    assert fitted.score(new, y_new) > 2 * y_new.mean()
    for again in (pickle.loads(pickle.dumps(fitted)), Ranker.load(fitted.save(tmp_path / "model"))):
        np.testing.assert_array_equal(again.decision_function(new), scores)
        with pytest.raises(ValueError, match="feature names"):
            again.predict(new.rename({"word": "color"}))
        with pytest.raises(ValueError, match="feature names"):
            again.predict(new.drop("when"))


@pytest.mark.parametrize("made", EVERY[:3], ids=IDS[:3])
def test_missing_numbers_of_a_plain_array_are_taken(made: Ranker) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 1).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    assert clone(made).fit(X, y).score(X, y) > y.mean()
    whole = np.nan_to_num(X)
    plain = clone(made).fit(whole, y)
    gap = plain.decision_function(np.full((1, 3), np.nan))  # none was missing in training
    assert np.isfinite(gap).all()


def learned(table: Any, weight: Any = None, *, native: bool = False, text: Any = ()) -> Preparation:
    columns = columns_of(table)
    assert columns is not None
    names = [column.name for column in columns]
    return learn_preparation(
        columns, names, weight, takes_missing=native, takes_categories=native, text=text
    )


FRAME = pl.DataFrame(
    {
        "a": [1.0, None, 3.0, 10.0],
        "w": ["x", "y", None, "y"],
        "b": [1.0, 2.0, 3.0, 4.0],
    }
)


def test_gaps_are_filled_and_marked_and_words_become_columns() -> None:
    expected = [
        # a, was missing, w = y, w = x, b
        [1, 0, 0, 1, 1],
        [3, 1, 1, 0, 2],
        [3, 0, 0, 0, 3],
        [10, 0, 1, 0, 4],
    ]
    np.testing.assert_array_equal(learned(FRAME)(columns_of(FRAME)), expected)


def test_new_rows_may_lack_anything() -> None:
    new = pl.DataFrame({"a": [2.0], "w": ["z"], "b": [float("nan")]})
    np.testing.assert_array_equal(learned(FRAME)(columns_of(new)), [[2, 0, 0, 0, 2.5]])


def test_a_column_of_gaps_is_zero_and_many_words_are_cut() -> None:
    table = pl.DataFrame(
        {"n": [float("nan")] * 200, "w": [f"w{number % 100}" for number in range(200)]}
    )
    made = learned(table)(columns_of(table))
    assert made.shape == (200, 2 + 64)
    assert not made[:, 0].any()


@pytest.mark.parametrize("native", [True, False])
def test_a_row_of_weight_two_is_the_row_twice_and_one_of_weight_zero_is_not_there(
    native: bool,
) -> None:
    table, _ = frame(rows=60)
    table = table.with_columns(text=pl.col("word") + " paint " + pl.col("flag").cast(pl.String))
    weight = np.random.default_rng(2).integers(0, 3, 60).astype(float)
    often = table[np.repeat(np.arange(60), weight.astype(int))]
    by_weight = learned(table, weight, native=native, text=["text"])
    assert by_weight.as_json() == learned(often, native=native, text=["text"]).as_json()


@pytest.mark.parametrize("native", [True, False])
def test_it_survives_a_file(native: bool) -> None:
    table, _ = frame()
    table = table.with_columns(text=pl.col("word") + " and more")
    known = learned(table, native=native, text=["text"])
    again = Preparation.from_json(json.loads(json.dumps(known.as_json())))
    assert again == known
    np.testing.assert_array_equal(again(columns_of(table)), known(columns_of(table)))


def test_parts_of_a_time_are_those_of_the_calendar() -> None:
    instants = [
        datetime.datetime(2024, 2, 29, 13, 30),
        datetime.datetime(1969, 12, 31, 0, 0),
        datetime.datetime(2023, 12, 1, 6, 0),
    ]
    known = learned(pl.DataFrame({"t": instants}), native=True)
    made = known(columns_of(pl.DataFrame({"t": instants})))
    for row, instant in zip(made, instants, strict=True):
        day = (instant - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
        hour = instant.hour + instant.minute / 60
        assert row.tolist() == [day, instant.month, instant.day, instant.weekday(), hour]


def test_an_instant_is_the_same_in_every_zone() -> None:
    utc = pl.Series("t", [datetime.datetime(2024, 1, 1, 12), datetime.datetime(2024, 1, 2)])
    berlin = utc.dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin")
    objects = berlin.to_list()
    wanted = columns_of(utc.to_frame())[0].values
    for other in (
        berlin.to_frame(),
        pd.DataFrame({"t": pd.to_datetime(objects)}),
        np.array(objects, dtype=object)[:, None],
    ):
        np.testing.assert_array_equal(columns_of(other)[0].values, wanted)


def test_text_is_its_terms_and_not_a_category() -> None:
    table = pl.DataFrame({"t": ["late refund", "refund please", "all fine here", "fine", None, ""]})
    known = learned(table, text=["t"])
    assert known.names == ["t: 'fine'", "t: 'refund'"]  # in two rows each, others in one
    made = known(columns_of(table))
    np.testing.assert_array_equal(made, [[0, 1], [0, 1], [1, 0], [1, 0], [0, 0], [0, 0]])
    X = pl.DataFrame({"t": [f"{'refund' if n % 4 == 0 else 'fine'} item {n}" for n in range(80)]})
    y = (np.arange(80) % 4 == 0).astype(int)
    made = LinearRanker(text=["t"], random_state=0).fit(X, y)
    assert made.score(X, y) == 1
    assert clone(made).text == ["t"]
    assert LinearRanker(random_state=0).fit(X, y).score(X, y) < 1


def test_cells_that_are_neither_words_nor_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="got dict in row 1"):
        columns_of(np.array([["a"], [{"b": 1}]], dtype=object))
    with pytest.raises(ValueError, match="'l' of X holds values of type list"):
        columns_of(pl.DataFrame({"l": [[1], [2]], "w": ["a", "b"]}))


def test_a_matrix_without_gaps_is_left_alone() -> None:
    rows = np.ones((4, 2), dtype=np.float32)
    known = learn_preparation(rows, ["0", "1"], None, takes_missing=False, takes_categories=False)
    assert known(rows) is rows
    gap = np.array([[np.nan, 3.0]])
    np.testing.assert_array_equal(known(gap), [[1, 3]])
    assert isinstance(Column("a", "number", gap[0]), Column)
