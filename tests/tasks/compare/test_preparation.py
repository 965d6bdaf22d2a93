from __future__ import annotations

import json

import numpy as np
import polars as pl

from rankwise.tasks.compare.preparation import Preparation

FRAME = pl.DataFrame(
    {
        "a": [1.0, float("nan"), 3.0, 10.0],
        "w": ["x", "y", None, "y"],
        "b": [1.0, 2.0, 3.0, 4.0],
    }
)


def test_gaps_are_filled_and_marked_and_words_become_columns():
    made = Preparation.of(FRAME)(FRAME)
    expected = [
        # a, was missing, w = y, w = x, b
        [1, 0, 0, 1, 1],
        [3, 1, 1, 0, 2],
        [3, 0, 0, 0, 3],
        [10, 0, 1, 0, 4],
    ]
    np.testing.assert_array_equal(made, expected)


def test_new_rows_may_lack_anything():
    new = pl.DataFrame({"a": [2.0], "w": ["z"], "b": [float("nan")]})
    np.testing.assert_array_equal(Preparation.of(FRAME)(new), [[2, 0, 0, 0, 2.5]])


def test_it_survives_a_file():
    known = Preparation.of(FRAME)
    again = Preparation.from_json(json.loads(json.dumps(known.as_json())))
    assert again == known


def test_a_column_of_gaps_is_zero_and_many_words_are_cut():
    frame = pl.DataFrame(
        {"n": [float("nan")] * 200, "w": [f"w{number % 100}" for number in range(200)]}
    )
    made = Preparation.of(frame)(frame)
    assert made.shape == (200, 2 + 64)
    assert not made[:, 0].any()


def test_arrays_are_numbers_already():
    assert Preparation.of(np.zeros((2, 2))) is None
