from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from rankwise.data import DataError
from rankwise.data.target import read_target, require_present

HERE = Path("a.csv")


@pytest.mark.parametrize(
    ("values", "positive", "expected", "label"),
    [
        ([0, 1, 0], None, [0, 1, 0], "1"),
        ([1.0, 2.0, 1.0], None, [0, 1, 0], "2"),
        ([-1, 1, 1], None, [0, 1, 1], "1"),
        ([0.5, 1.5], None, [0, 1], "1.5"),
        ([True, False], None, [1, 0], "true"),
        (["no", "Yes"], None, [0, 1], "Yes"),
        (["a", "b", "c"], "b", [0, 1, 0], "b"),
        ([0, 1, 2], "2.0", [0, 0, 1], "2"),
        ([0, 1], "0", [1, 0], "0"),
        (["Fraud", "fine"], "fraud", [1, 0], "Fraud"),
    ],
)
def test_which_value_becomes_1(values, positive, expected, label):
    target, found = read_target(HERE, pl.Series("y", values), positive, graded=False)
    assert target.tolist() == expected
    assert found == label


def test_relevances_stay_unless_one_is_named():
    column = pl.Series("y", [0, 3, 1])
    assert read_target(HERE, column, None, graded=True)[0].tolist() == [0, 3, 1]
    assert read_target(HERE, column, "3", graded=True)[0].tolist() == [0, 1, 0]


def test_missing_values_are_counted_and_found():
    require_present(HERE, "target", pl.Series("y", [1.0, 2.0]))
    with pytest.raises(DataError, match="missing in 2 of 4 rows, first in row 2"):
        require_present(HERE, "target", pl.Series("y", [1.0, float("nan"), None, 0.0]))


def test_many_values_are_not_all_listed():
    with pytest.raises(DataError, match="has 20 values") as error:
        read_target(HERE, pl.Series("y", list(range(20))), None, graded=False)
    assert "…" in str(error.value)
    assert str(error.value).count("(1)") == 8
