from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from rankwise.data import DataError
from rankwise.tasks.compare.prediction_columns import kept_columns

TEXT = """id;"name, full";code;when;amount;label
7;"a, b";007;2024-02-01;1.50;1
8;;012;2024-03-01;;0
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data.csv").write_text(TEXT)
    return tmp_path / "data.csv"


def test_kept_values_are_those_of_the_csv_file(path):
    found = kept_columns(path, ["all"])
    assert found.to_dict(as_series=False) == {
        "id": [7, 8],
        "name, full": ["a, b", None],
        "code": ["007", "012"],
        "when": ["2024-02-01", "2024-03-01"],
        "amount": [1.5, None],
        "label": [1, 0],
    }


def test_long_ids_keep_their_digits(tmp_path):
    (tmp_path / "a.csv").write_text("id\n12345678901234567890\n12345678901234567891\n")
    found = kept_columns(tmp_path / "a.csv", ["id"])["id"]
    assert found.to_list() == ["12345678901234567890", "12345678901234567891"]


def test_columns_are_named_by_lists_and_repeated_options(path):
    assert kept_columns(path, []).width == 0
    assert kept_columns(path, ["label, id"]).columns == ["label", "id"]
    assert kept_columns(path, ["label", "id,label", "name, full"]).columns == [
        "label", "id", "name, full"
    ]  # fmt: skip


def test_parquet_columns_keep_their_types(tmp_path):
    frame = pl.DataFrame({"tags": [["a"], []], "when": [date(2024, 1, 1), None]})
    frame.write_parquet(tmp_path / "a.parquet")
    assert kept_columns(tmp_path / "a.parquet", ["all"]).equals(frame)


def test_svmlight_has_a_target_and_queries_to_keep(tmp_path):
    (tmp_path / "a.svm").write_text("2 qid:5 1:1\n0 qid:6 1:2\n")
    found = kept_columns(tmp_path / "a.svm", ["all"])
    assert found.to_dict(as_series=False) == {"target": [2, 0], "qid": [5, 6]}


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (["id,labbel"], "no --keep column 'labbel'; did you mean 'label'?"),
        ([","], "--keep must name a column or be 'all', got ','"),
    ],
)
def test_columns_that_are_not_there_are_refused(path, keep, message):
    with pytest.raises(DataError) as error:
        kept_columns(path, keep)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["score", "probability", "in_training"])
def test_a_kept_column_must_not_have_the_name_of_an_output_column(tmp_path, name):
    (tmp_path / "a.csv").write_text(f"id,{name}\n1,2\n")
    for keep in (["all"], [name]):
        with pytest.raises(DataError, match=f"cannot keep the column '{name}'.*rename it"):
            kept_columns(tmp_path / "a.csv", keep)
    assert kept_columns(tmp_path / "a.csv", ["id"]).columns == ["id"]
