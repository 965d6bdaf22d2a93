from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from rankwise.estimators import LinearRanker, NeuralRanker
from rankwise.estimators.features import learn_features, read_features

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
    with pytest.raises(ValueError, match="y must be given"):
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
