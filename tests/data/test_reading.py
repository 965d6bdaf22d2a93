"""The rules of columns: kept, and applied to another file."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date, datetime, time, timedelta

import polars as pl
import pytest

from rankwise.data import DataError, read_columns, read_table
from rankwise.data.reading import Reading, Rule


def test_the_rules_survive_a_file() -> None:
    known = Reading((Rule("a", "numeric", currency="$"), Rule("t", "time", "%d/%m/%Y")))
    kept = json.loads(json.dumps([asdict(rule) for rule in known.rules]))
    assert Reading(tuple(Rule(**rule) for rule in kept)) == known
    assert (known.names, known.kinds, known.text) == (("a", "t"), ("numeric", "time"), ())


TRAINING = """amount,when,code,flag,y
"$1,000",25/01/2023,01,true,0
$20,02/03/2023,A2,false,1
$5,04/05/2023,01,true,0
$7,05/06/2023,A2,true,1
"""


def test_a_new_file_is_read_as_training_was_whatever_its_values_look_like(tmp_path) -> None:
    (tmp_path / "train.csv").write_text(TRAINING)
    table = read_table(tmp_path / "train.csv", target="y")
    assert table.kinds == ("numeric", "time", "categorical", "numeric")
    # Alone, the dates would be month first, the codes whole numbers and the flags words.
    (tmp_path / "new.csv").write_text("code,flag,when,amount\n01,TRUE,01/02/2023,3\n02,,,\n")
    found, remarks = read_columns(tmp_path / "new.csv", table.reading)
    assert remarks == ()
    assert found.columns == list(table.names)
    assert found["when"].to_list() == [datetime(2023, 2, 1), None]
    assert found["code"].to_list() == ["01", "02"]
    assert found["flag"][0] == 1
    assert found["amount"][0] == 3
    again, _ = read_columns(tmp_path / "train.csv", table.reading)
    assert again.equals(table.features, null_equal=True)


def test_values_that_cannot_be_read_are_missing_and_counted(tmp_path) -> None:
    (tmp_path / "train.csv").write_text(TRAINING)
    reading = read_table(tmp_path / "train.csv", target="y").reading
    rows = "€3,2023-01-25,A2,true\nlots,01/02/2023,B,maybe\n4,01/02/2023,B,false\n"
    (tmp_path / "new.csv").write_text("amount,when,code,flag\n" + rows)
    found, remarks = read_columns(tmp_path / "new.csv", reading)
    assert found["amount"].is_nan().to_list() == [True, True, False]
    assert found["when"].null_count() == 1
    assert [remark.split(" cannot")[0] for remark in remarks] == [
        "column 'amount': 2 of 3 values",
        "column 'when': 1 of 3 values",
        "column 'flag': 1 of 3 values",
    ]
    assert "as dates (%d/%m/%Y), as in training, such as '2023-01-25' in row 1" in remarks[1]
    (tmp_path / "less.csv").write_text("when,code,flag\n01/02/2023,B,true\n")
    with pytest.raises(DataError, match="1 of the 4 columns of the model are missing: 'amount'"):
        read_columns(tmp_path / "less.csv", reading)


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        (Rule("a", "numeric"), [timedelta(days=2), timedelta(hours=12)], [2.0, 0.5]),
        (Rule("a", "numeric", "time of day"), [time(9, 30)], [9.5]),
        (Rule("a", "numeric"), [True, False], [1.0, 0.0]),
        (Rule("a", "categorical"), [7.0, 8.0], ["7", "8"]),
        (Rule("a", "categorical"), ["7.0", "07"], ["7", "07"]),
        (Rule("a", "time", "%Y%m%d"), [20230125], [datetime(2023, 1, 25)]),
        (Rule("a", "time"), [date(2023, 1, 25)], [datetime(2023, 1, 25)]),
        (Rule("a", "time"), ["01/25/2023"], [datetime(2023, 1, 25)]),
        (Rule("a", "text"), ["7.0"], ["7.0"]),
    ],
)
def test_columns_with_types_are_read_by_the_same_rules(rule, values, expected) -> None:
    assert rule.read(pl.Series("a", values)).to_list() == expected
