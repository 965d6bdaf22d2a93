from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils import check_random_state

from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker
from rankwise.estimators._holdout import hold_out
from rankwise.estimators._inputs import (
    learn_features,
    read_features,
    read_groups,
    read_target,
    read_weight,
)
from rankwise.estimators.data import Part

Y = np.array([0, 1, 0, 1])
TABLE = pl.DataFrame(
    {
        "size": [1.0, None, 3.0, 4.0],
        "color": ["red", "blue", None, "red"],
        "kind": pl.Series(["x", "y", "x", "z"], dtype=pl.Categorical),
        "old": [True, False, None, True],
    }
)


def test_a_table_with_words() -> None:
    ranker = NeuralRanker()
    rows, y, weight = learn_features(ranker, TABLE, Y)
    assert ranker.feature_names_in_.tolist() == ["size", "color", "kind", "old"]
    assert {p: c.tolist() for p, c in ranker.categories_.items()} == {
        1: ["blue", "red"],
        2: ["x", "y", "z"],
    }
    nan = np.nan
    np.testing.assert_array_equal(
        rows, [[1, 1, 0, 1], [nan, 0, 1, 0], [3, nan, 0, nan], [4, 1, 2, 1]]
    )
    assert y.tolist() == [0, 1, 0, 1]
    assert weight is None


def test_an_unknown_category_is_missing() -> None:
    ranker = NeuralRanker()
    learn_features(ranker, TABLE, Y)
    new = TABLE[:1].with_columns(color=pl.lit("zebra"))
    np.testing.assert_array_equal(read_features(ranker, new), [[1, np.nan, 0, 1]])


def test_a_column_of_nothing_but_gaps() -> None:
    ranker = NeuralRanker()
    table = TABLE.with_columns(color=pl.lit(None, dtype=pl.String))
    rows, _, _ = learn_features(ranker, table, Y)
    assert np.isnan(rows[:, 1]).all()
    assert ranker.categories_[1].tolist() == []


def test_words_where_there_were_numbers() -> None:
    ranker = NeuralRanker()
    learn_features(ranker, TABLE.select("size", "color"), Y)
    with pytest.raises(ValueError, match="'size' of X held numbers in fit"):
        read_features(ranker, pl.DataFrame({"size": ["big"], "color": ["red"]}))


def test_other_columns_are_refused() -> None:
    ranker = NeuralRanker()
    learn_features(ranker, TABLE, Y)
    with pytest.raises(ValueError, match="feature names"):
        read_features(ranker, TABLE.rename({"size": "weight"}))
    with pytest.raises(ValueError, match="feature"):
        read_features(ranker, TABLE.drop("size"))


def test_a_model_of_numbers_gets_indicators_and_filled_and_marked_gaps() -> None:
    ranker = LinearRanker()
    rows, _, _ = learn_features(ranker, TABLE, Y)
    assert ranker.preparation_.names == [
        "size", "size is missing", "color=red", "color=blue", "kind=x", "kind=y", "kind=z",
        "old", "old is missing",
    ]  # fmt: skip
    assert ranker.preparation_.sources.tolist() == [0, 0, 1, 1, 2, 2, 2, 3, 3]
    np.testing.assert_array_equal(
        rows,
        [
            [1, 0, 1, 0, 1, 0, 0, 1, 0],
            [3, 1, 0, 1, 0, 1, 0, 0, 0],
            [3, 0, 0, 0, 1, 0, 0, 1, 1],
            [4, 0, 1, 0, 0, 0, 1, 1, 0],
        ],
    )


def test_dates_become_the_parts_that_vary() -> None:
    ranker = NeuralRanker()
    days = pl.Series([date(1970, 1, 2), date(1970, 1, 3), None, date(1970, 2, 2)])
    rows, _, _ = learn_features(ranker, pl.DataFrame({"when": days}), Y)
    assert ranker.preparation_.names == [
        "when: days since 1970", "when: month", "when: day of the month", "when: day of the week",
    ]  # fmt: skip
    nan = np.nan
    np.testing.assert_array_equal(
        rows, [[1, 1, 2, 4], [2, 1, 3, 5], [nan, nan, nan, nan], [32, 2, 2, 0]]
    )
    with pytest.raises(ValueError, match="'when' of X held dates in fit, now it holds words"):
        read_features(ranker, pl.DataFrame({"when": ["1970-01-02"]}))
    with pytest.raises(ValueError, match="'when' of X held dates in fit, now it holds numbers"):
        read_features(ranker, pl.DataFrame({"when": [3.0]}))
    assert np.isnan(read_features(ranker, pl.DataFrame({"when": [None]}))).all()


def test_numbers_of_a_table_are_a_matrix() -> None:
    ranker = LinearRanker()
    rows, _, _ = learn_features(ranker, pl.DataFrame({"a": [1, 2, 3, 4], "b": [0.5, 1, 2, 3]}), Y)
    assert rows.shape == (4, 2)
    assert ranker.feature_names_in_.tolist() == ["a", "b"]
    assert ranker.categories_ == {}


def test_sparse_rows_stay_sparse_and_gaps_are_named() -> None:
    rows, _, _ = learn_features(LinearRanker(), csr_array(np.eye(4)), Y)
    assert rows.shape == (4, 4)
    assert hasattr(rows, "indptr")
    gaps = csr_array(np.diag([1, np.nan, 2, 3]))
    with pytest.raises(ValueError, match="NaN"):
        learn_features(LinearRanker(), gaps, Y)
    infinite = TABLE.with_columns(size=pl.lit(float("inf")))
    with pytest.raises(ValueError, match="infinity"):
        learn_features(NeuralRanker(), infinite, Y)


def test_a_target_is_needed_and_fits() -> None:
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None; give"):
        learn_features(NeuralRanker(), TABLE, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        learn_features(NeuralRanker(), TABLE, Y[:3])


class _Frame:
    """As little of a data frame as is looked at: two columns of one name, as pandas allows."""

    columns = ("a", "a")
    dtypes = ("float64", "float64")


def test_columns_of_the_same_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"different names, got \['a'\]"):
        learn_features(NeuralRanker(), _Frame(), Y)


@pytest.mark.parametrize("asked", ["color", ["hue"], [7]])
def test_text_names_columns_of_the_table(asked) -> None:
    with pytest.raises(ValueError, match="text must be a list of columns of X, got"):
        learn_features(LinearRanker(text=asked), TABLE, Y)
    with pytest.raises(ValueError, match="text must name columns of words, got 'size'"):
        learn_features(LinearRanker(text=["size"]), TABLE, Y)


def test_a_frame_without_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one row"):
        learn_features(NeuralRanker(), TABLE.clear(), Y[:0])


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 1, 1], [0, 1]),
        ([-1, 1, 1], [-1, 1]),
        ([False, True, True], [False, True]),
        (["no", "yes", "yes"], ["no", "yes"]),
        (np.array(["no", "yes", "yes"], dtype=object), ["no", "yes"]),
        (np.array([False, True, True], dtype=object), [False, True]),
        (np.array([0, 2.0, 2.0], dtype=object), [0, 2]),
        ([1.0, 2.0, 2.0], [1, 2]),
    ],
)
def test_the_second_of_two_classes_is_positive(y: object, classes: list[object]) -> None:
    found, target = read_target(y, graded=False)
    assert found.tolist() == classes
    assert target.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2], "Only binary classification is supported.*3 values"),
        ([0.5, 1.5, 2.5], "Unknown label type"),
        ([1, 1, 1], "only one class"),
        (np.array(["a", None, "b"], dtype=object), "missing"),
        (np.array(["a", 3, "b"], dtype=object), "labels of one type, got int, str; convert"),
    ],
)
def test_targets_that_are_refused(y: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_target(y, graded=False)


def test_relevances() -> None:
    classes, target = read_target([0, 3, 1], graded=True)
    assert classes.tolist() == [0, 1]
    assert target.tolist() == [0, 3, 1]
    with pytest.raises(ValueError, match="relevances >= 0"):
        read_target([0, 3, -1], graded=True)


def test_targets_of_known_classes() -> None:
    classes = np.array(["no", "yes"])
    _, target = read_target(["yes", "yes"], graded=False, classes=classes, rows=2)
    assert target.tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"only the classes \['no', 'yes'\], got \['perhaps'\]"):
        read_target(["yes", "perhaps"], graded=False, classes=classes)
    with pytest.raises(ValueError, match="2 values for 3 rows"):
        read_target(["yes", "no"], graded=False, classes=classes, rows=3)


def test_groups_are_numbered_in_the_order_of_their_ids() -> None:
    assert read_groups(None, 3) is None
    found = read_groups(["b", "a", "b"], 3)
    assert np.array_equal(found, [1, 0, 1])
    with pytest.raises(ValueError, match="one id per row of X, 3, got shape"):
        read_groups([1, 2], 3)
    for missing in ([1.0, np.nan, 2.0], np.array(["a", None, "b"], dtype=object)):
        with pytest.raises(ValueError, match="missing"):
            read_groups(missing, 3)


def test_weights() -> None:
    rows = np.zeros((2, 1))
    assert read_weight(None, rows) is None
    found = read_weight([1, 2], rows)
    assert np.array_equal(found, [1, 2])
    for bad, message in (([0, 0], "zero"), ([1, -1], "[Nn]egative"), ([1], "sample_weight")):
        with pytest.raises(ValueError, match=message):
            read_weight(bad, rows)


SMALL = {"hidden": (6,), "epochs": 6, "batch_size": 64}
RANKERS = [
    LinearRanker("log_loss", random_state=0),
    NeuralRanker("log_loss", **SMALL, random_state=0),
    BoostedRanker("log_loss", n_estimators=10, n_jobs=1, random_state=0),
]


def lists(seed, queries=20, documents=6):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(queries), documents)
    y = np.tile(np.arange(documents) % 3, queries)
    X = rng.normal(size=(len(y), 3))
    X[:, 1] += 2 * y
    return X, y, groups


@pytest.mark.parametrize("ranker", RANKERS, ids=["linear", "neural", "boosted"])
def test_rows_held_out_by_hand_are_those_held_out_by_itself(ranker, rows):
    X, y = rows
    alone = clone(ranker).fit(X, y)
    seed = int(check_random_state(0).randint(2**31 - 1))
    held = hold_out(Part(X, y.astype(float)), 0.2, seed)
    by_hand = clone(ranker).fit(X[~held], y[~held], validation=(X[held], y[held]))
    assert by_hand.held_out_ == alone.held_out_ == held.sum()
    if not isinstance(ranker, BoostedRanker):  # whose first score is the share of all rows
        np.testing.assert_array_equal(by_hand.predict_proba(X), alone.predict_proba(X))
        assert by_hand.threshold_ == alone.threshold_
    assert by_hand.prior_ == y[~held].mean()


def test_they_say_when_to_stop_and_are_not_learned_from():
    X, y, groups = lists(0)
    other = lists(1, queries=7)
    ranker = NeuralRanker("ndcg@3", **SMALL, random_state=0)
    found = clone(ranker).fit(X, y, groups=groups, validation=other)
    assert found.held_out_ == len(other[1])
    value = found.score(other[0], other[1], groups=other[2])
    assert value == pytest.approx(max(found.history_))
    # All rows are learned from: other rows to stop by leave the first epoch as it is.
    one = clone(ranker).set_params(epochs=1)
    first, second = (
        one.fit(X, y, groups=groups, validation=lists(seed))._scores(X) for seed in (1, 2)
    )
    np.testing.assert_array_equal(first, second)


def test_relevances_that_only_validation_has_or_has_not():
    X, y, groups = lists(0)
    few, ids = np.minimum(y, 1) * 2, groups + 100  # 0 and 2 only
    ranker = LinearRanker("ndcg@3", random_state=0)
    assert ranker.fit(X, y, groups=groups, validation=(X, few, ids)).held_out_ == len(y)
    assert ranker.fit(X, np.minimum(y, 1), groups=groups, validation=(X, y, ids)).held_out_


def test_weights_of_the_rows_held_out_count(rows):
    X, y = rows
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 2.0)
    ranker = LinearRanker("log_loss", threshold="f1", random_state=0)
    weighted = clone(ranker).fit(X, y, validation=(X, y, None, weight))
    without = clone(ranker).fit(X, y, validation=(X[weight > 0], y[weight > 0]))
    assert weighted.held_out_ == without.held_out_ == (weight > 0).sum()
    assert weighted.threshold_ == pytest.approx(without.threshold_)


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        (lambda X, y: (X,), r"validation must be \(X, y\[, groups\[, sample_weight\]\]\), got 1"),
        (lambda X, y: X, "got ndarray"),
        (lambda X, y: (X, y[1:]), "validation must have one y per row of X"),
        (lambda X, y: (X[:, 1:], y), "features"),
        (lambda X, y: (X, y * 0), "validation must hold rows of both classes, got only"),
        (lambda X, y: (X, y + 1), "y"),
        (lambda X, y: (X, y, np.zeros(len(y))), "validation must have groups where the rows"),
    ],
)
def test_what_cannot_be_held_out_is_said(rows, validation, message):
    X, y = rows
    with pytest.raises(ValueError, match=message):
        LinearRanker("log_loss").fit(X, y, validation=validation(X, y))
