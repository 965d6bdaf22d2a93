"""The column of weights, and rows that do not count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rankwise.data import DataError, read_table
from rankwise.data.weights import read_weights


def test_weights_are_numbers_as_people_write_them() -> None:
    assert read_weights(Path("x"), pl.Series("w", ["1,000", "2"])).tolist() == [1000, 2]
    assert read_weights(Path("x"), pl.Series("w", [0.5, 0.0])).tolist() == [0.5, 0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, -2.0], "must hold finite numbers >= 0, got -2 in row 2"),
        ([1.0, float("inf")], "must hold finite numbers >= 0, got inf in row 2"),
        ([1.0, None], "the weight column 'w' is missing in 1 of 2 rows, first in row 2"),
        (["1", "two"], "must hold numbers, got 'two' in row 2"),
        ([0, 0], "is 0 in every row"),
    ],
)
def test_weights_that_are_none_are_refused(values, message) -> None:
    with pytest.raises(DataError, match="weight column 'w'") as error:
        read_weights(Path("x"), pl.Series("w", values))
    assert message in str(error.value)


def test_rows_without_a_target_or_of_weight_0_are_left_out_and_counted(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("a,w,y\n1,1,\n5,2,0\n3,0,1\n4,3,1\n9,1,NA\n")
    table = read_table(tmp_path / "a.csv", target="y", weight="w")
    assert (len(table), table.without_target, table.without_weight) == (2, 2, 1)
    assert table.names == ("a",)  # the weight is no feature
    assert table.weight is not None
    assert table.weight.tolist() == [2, 3]
    assert table.target.tolist() == [0, 1]
    assert table.in_file(np.array([0, 1])).tolist() == [1, 3]
