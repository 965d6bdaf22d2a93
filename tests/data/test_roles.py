from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rankwise.data import DataError, read_table, split
from rankwise.data._roles import (
    read_classes,
    read_role,
    read_target,
    read_time,
    read_weights,
    require_present,
)


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
    target, found = read_target(pl.Series("y", values), positive, graded=False)
    assert target.tolist() == expected
    assert found == label


def test_relevances_stay_unless_one_is_named():
    column = pl.Series("y", [0, 3, 1])
    assert read_target(column, None, graded=True)[0].tolist() == [0, 3, 1]
    assert read_target(column, "3", graded=True)[0].tolist() == [0, 1, 0]


def test_missing_values_are_counted_and_found():
    require_present(pl.Series("y", [1.0, 2.0]))
    with pytest.raises(DataError, match="missing in 2 of 4 rows, first in row 2"):
        require_present(pl.Series("y", [1.0, float("nan"), None, 0.0]))


def test_many_values_are_not_all_listed():
    with pytest.raises(DataError, match="has 20 values") as error:
        read_target(pl.Series("y", list(range(20))), None, graded=False)
    assert "…" in str(error.value)
    assert str(error.value).count("(1)") == 8


# In the order of time; as words each of these has another order.
INSTANTS = [datetime(2021, 12, 25, 23), datetime(2022, 2, 3, 4), datetime(2022, 4, 20, 5)]


@pytest.mark.parametrize(
    "form", ["%m/%d/%Y", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%d %b %Y", "%b %d, %Y"]
)
def test_dates_are_ordered_by_time_and_not_as_words(form) -> None:
    words = [instant.strftime(form) for instant in INSTANTS]
    assert sorted(words) != words
    found, dated, _ = read_time(pl.Series("when", words))
    assert dated
    assert np.argsort(found).tolist() == [0, 1, 2]


def test_numbers_stay_numbers_and_compact_dates_are_dates() -> None:
    found, dated, _ = read_time(pl.Series("t", [1_674_600_000, 5, 7]))
    assert (found.tolist(), dated) == ([1_674_600_000, 5, 7], False)
    _, dated, form = read_time(pl.Series("t", [20230125, 20221231]))
    assert (dated, form) == (True, "%Y%m%d")
    found, dated, form = read_time(pl.Series("t", [202301, 202212]), "%Y%m")
    assert (dated, form, found[0] > found[1]) == (True, "%Y%m", True)


@pytest.mark.parametrize(
    ("values", "given", "message"),
    [
        (
            ["red", "green", "red"],
            None,
            "in 3 of 3 rows, such as 'red' and 'green'; give",
        ),
        (["2023-01-25", "soon", "later"], None, "in 2 of 3 rows, such as 'soon' and 'later'"),
        (["01/25/2023", "02/01/2023"], "%d/%m/%Y", "by --date-format %d/%m/%Y in 1 of 2 rows"),
        (["01/02/2023", "03/04/2023"], None, "such as '01/02/2023' and '03/04/2023'; say which"),
        (["2023-01-25", None], None, "the time column 'when' is missing in 1 of 2 rows"),
        ([1.0, float("inf")], None, "must hold finite numbers, got inf"),
        ([True, False], None, "must hold dates or numbers, got values of type Boolean"),
    ],
)
def test_what_cannot_be_read_as_time_is_refused_with_two_values(values, given, message) -> None:
    with pytest.raises(DataError) as error:
        read_role(
            Path("x"), "time", pl.Series("when", values), partial(read_time, date_format=given)
        )
    assert message in str(error.value)


def test_no_row_of_the_future_is_trained_on_and_every_part_says_its_period(tmp_path) -> None:
    rng = np.random.default_rng(0)
    start = np.datetime64("2022-06-01")
    days = start + rng.permutation(500).astype("timedelta64[D]")
    when = [day.item().strftime("%m/%d/%Y") for day in days]
    frame = pl.DataFrame({"when": when, "x": rng.normal(size=500), "y": rng.integers(0, 2, 500)})
    frame.write_csv(tmp_path / "a.csv")
    table = read_table(tmp_path / "a.csv", target="y", time="when")
    parts = split(table)
    assert days[parts.train].max() < days[parts.validation].min()
    assert days[parts.validation].max() < days[parts.test].min()
    assert parts.periods(table) == {
        "train": "2022-06-01 to 2023-03-27",
        "validation": "2023-03-28 to 2023-07-05",
        "test": "2023-07-06 to 2023-10-13",
    }
    plain = read_table(tmp_path / "a.csv", target="y")
    assert split(plain).periods(plain) == {}


def test_weights_are_numbers_as_people_write_them() -> None:
    assert read_weights(pl.Series("w", ["1,000", "2"])).tolist() == [1000, 2]
    assert read_weights(pl.Series("w", [0.5, 0.0])).tolist() == [0.5, 0]


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
        read_role(Path("x"), "weight", pl.Series("w", values), read_weights)
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


def test_several_classes_are_numbered_in_their_order():
    numbers, labels = read_classes(pl.Series("y", [10, 9, 2, 9]))
    assert (numbers.tolist(), labels) == ([2, 1, 0, 1], ("2", "9", "10"))
    numbers, labels = read_classes(pl.Series("y", ["b", "a", "c"], dtype=pl.Categorical))
    assert (numbers.tolist(), labels) == ([1, 0, 2], ("a", "b", "c"))
    assert read_classes(pl.Series("y", [0.0, 1.0, 1.0])) is None
    assert read_classes(pl.Series("y", [0.0, 1.0, 2.0]))[1] == ("0", "1", "2")
    with pytest.raises(DataError, match=r"has 51 values: '0', '1', .*, …; up to 50 can be classes"):
        read_classes(pl.Series("y", range(51)))
