from __future__ import annotations

import gzip
from datetime import datetime

import numpy as np
import polars as pl
import pytest

from rankwise.data import DataError, read_columns, read_table
from rankwise.data.reading import Reading, Rule

CSV = """id,amount,country,when,user,fraud
t1,1.5,DE,2024-01-03,u2,0
t2,NA,FR,2024-01-01,u1,1
t3,3,?,2024-01-02,u2,0
t4,4,DE,2024-01-04,u1,1
"""


def written(path, text):
    path.write_text(text)
    return path


def test_csv_is_typed_and_its_columns_have_roles(tmp_path):
    path = written(tmp_path / "a.csv", CSV)
    table = read_table(path, target="fraud", group="user", time="when")
    assert table.names == ("amount", "country")
    assert table.kinds == ("numeric", "categorical")
    assert table.left_out == ("id",)
    assert table.target.tolist() == [0, 1, 0, 1]
    assert table.positive == "1"
    assert table.groups.tolist() == [1, 0, 1, 0]
    assert np.argsort(table.time).tolist() == [1, 2, 0, 3]
    assert table.features["country"].to_list() == ["DE", "FR", None, "DE"]
    np.testing.assert_array_equal(table.features["amount"], [1.5, np.nan, 3, 4])
    assert (len(table), table.positives, table.graded) == (4, 2, False)
    assert table.of(np.array([3, 1]))["country"].to_list() == ["DE", "FR"]


def test_the_same_from_gzip_parquet_tabs_and_semicolons(tmp_path):
    plain = read_table(written(tmp_path / "a.csv", CSV), target="fraud")
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write(CSV)
    pl.read_csv(tmp_path / "a.csv", null_values=["NA", "?"], try_parse_dates=True).write_parquet(
        tmp_path / "a.parquet"
    )
    written(tmp_path / "a.tsv", CSV.replace(",", "\t"))
    written(tmp_path / "b.csv", CSV.replace(",", ";"))
    for name in ("a.csv.gz", "a.parquet", "a.tsv", "b.csv"):
        other = read_table(tmp_path / name, target="fraud")
        assert other.features.equals(plain.features, null_equal=True), name
        assert other.target.tolist() == plain.target.tolist()


def test_dates_are_datetimes_booleans_numbers(tmp_path):
    path = written(tmp_path / "a.csv", "d,b,y\n1970-01-02,true,0\n1970-01-04,false,1\n,true,1\n")
    table = read_table(path, target="y")
    assert table.kinds == ("time", "numeric")
    days = [datetime(1970, 1, 2), datetime(1970, 1, 4), None]
    assert table.features["d"].to_list() == days
    assert table.features["b"].to_list() == [1, 0, 1]


def test_a_column_to_drop_is_no_feature(tmp_path):
    path = written(tmp_path / "a.csv", CSV)
    assert read_table(path, target="fraud", drop=["user", "when"]).names == ("amount", "country")


@pytest.mark.parametrize("role", ["target", "group", "time"])
def test_a_column_with_a_part_to_play_cannot_be_dropped(tmp_path, role):
    path = written(tmp_path / "a.csv", CSV)
    roles = {"target": "fraud"} | {role: "fraud" if role == "target" else "user"}
    with pytest.raises(DataError, match=rf"--drop {roles[role]} is the {role} column"):
        read_table(path, drop=[roles[role]], **roles)


LETOR = "2 qid:7 1:0.5 3:1 # doc\n0 qid:7 2:2\n1 qid:3 1:1 3:4\n0 qid:3 1:3\n"


@pytest.mark.parametrize("name", ["a.svm", "a.svmlight", "a.libsvm", "a.txt", "a.train"])
def test_letor_has_graded_targets_and_queries(tmp_path, name):
    table = read_table(written(tmp_path / name, LETOR), target=None, group="qid", graded=True)
    assert table.target.tolist() == [2, 0, 1, 0]
    assert table.graded
    assert table.groups.tolist() == [1, 1, 0, 0]
    assert table.names == ("f1", "f2", "f3")
    assert np.asarray(table.features).tolist() == [[0.5, 0, 1], [0, 2, 0], [1, 0, 4], [3, 0, 0]]


def test_few_entries_stay_sparse(tmp_path):
    path = written(tmp_path / "a.svm", "0 1:1\n1 50:2\n-1 3:1\n".replace("-1", "1"))
    table = read_table(path, target=None)
    assert table.features.shape == (3, 50)
    assert table.of(np.array([1])).toarray()[0, 49] == 2


def test_sizes_of_queries_beside_the_file(tmp_path):
    path = written(tmp_path / "a.svm", "0 1:1\n1 1:2\n0 1:1\n1 1:4\n0 1:5\n")
    written(tmp_path / "a.svm.query", "2\n3\n")
    assert read_table(path, target=None, group="qid").groups.tolist() == [0, 0, 1, 1, 1]
    written(tmp_path / "a.svm.query", "2\n2\n")
    with pytest.raises(DataError, match="the sizes add up to 4, the lists have 5 rows"):
        read_table(path, target=None, group="qid")


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        (
            "a.csv",
            CSV,
            {"target": "fraude"},
            "no target column 'fraude'; did you mean 'fraud'? the",
        ),
        (
            "a.csv",
            CSV,
            {"target": "x"},
            "the 6 columns are: id, amount, country, when, user, fraud",
        ),
        (
            "a.csv",
            CSV,
            {"target": "fraud", "group": "usr"},
            "no group column 'usr'; did you mean 'u",
        ),
        ("a.csv", CSV, {"target": "fraud", "drop": ["no"]}, "no drop column 'no'"),
        ("a.csv", CSV, {"target": None}, "needs --target"),
        (
            "a.csv",
            CSV,
            {"target": "fraud", "score": "country"},
            "must hold numbers, got 'DE' in row",
        ),
        (
            "a.csv",
            CSV,
            {"target": "fraud", "score": "amount"},
            "missing in 1 of 4 rows, first in row",
        ),
        (
            "a.csv",
            CSV,
            {"target": "fraud", "group": "country"},
            "group column 'country' is missing",
        ),
        ("a.csv", "a,y\n1,\n2,\n", {"target": "y"}, "'y' has no value in any of 2 rows; name an"),
        (
            "a.csv",
            "a,y\n1,\n1,0\n-inf,1\n",
            {"target": "y"},
            "holds -inf in row 2; write a number there, or nothing (rows are counted without the 1",
        ),
        ("a.csv", "", {"target": "y"}, "is empty"),
        ("a.csv", "a,y\n", {"target": "y"}, "is empty: 2 columns and no rows"),
        ("a.csv", "a,a,y\n1,2,0\n", {"target": "y"}, "duplicate columns: 'a'; every"),
        ("a.csv", "a,y\n1,2\n1,2,3\n", {"target": "y"}, "line 3: 3 fields where 2 belong"),
        ("a.csv", "a,y\n1,0\n1,0\n", {"target": "y"}, "has one class only: '0' (2); two"),
        (
            "a.csv",
            "a,y\n1,no\n1,yes\n1,maybe\n1,no\n",
            {"target": "y"},
            "has 3 values: 'no' (2), ",
        ),
        ("a.csv", "a,y\n1,fraud\n2,fine\n", {"target": "y"}, "is to be found with --positive"),
        ("a.csv", CSV, {"target": "fraud", "positive": "2"}, "--positive must be one of them"),
        ("a.csv", "a,y\n1,-1\n1,2\n", {"target": "y", "graded": True}, "got values from -1 to 2"),
        ("a.csv", "a,y\n1,b\n1,c\n", {"target": "y", "graded": True}, "numbers >= 0, got 'b' in"),
        ("a.csv", "a,y\n1,1\n1,1\n", {"target": "y", "graded": True}, "has one value only: 1;"),
        (
            "a.csv",
            "a,b,y\n1,2,1\n1,-inf,0\n",
            {"target": "y"},
            "the column 'b' holds -inf in row 2; write a number there, or nothing",
        ),
        ("a.parquet", "garbage", {"target": "y"}, "cannot be read as parquet"),
        ("a.xlsx", "garbage", {"target": "y"}, "is not a known format"),
        ("a.txt", "", {"target": "y"}, "is empty"),
        ("a.svm", "", {"target": None}, "is empty"),
        ("a.svm", "0 1:x\n", {"target": None}, "cannot be read as svmlight: could not convert"),
        ("a.svm", LETOR, {"target": None, "group": "user"}, "knows lists by qid only"),
        ("a.svm", "0 1:1\n1 2:1\n", {"target": None, "group": "qid"}, "but no line has qid:"),
        ("a.svm", LETOR, {"target": None, "time": "t"}, "has no named columns, got --time t"),
        ("a.svm", LETOR, {"target": None, "drop": ["u"]}, "has no named columns, got --drop u"),
        ("a.svm", LETOR, {"target": None}, "has 3 values"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, name, text, options, message):
    path = written(tmp_path / name, text)
    with pytest.raises(DataError) as error:
        read_table(path, **options)
    assert message in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_table(tmp_path / "none.csv", target="y")
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path, target="y")


def test_a_row_to_score_has_no_infinite_value_in_a_column_of_the_model(tmp_path):
    path = written(tmp_path / "a.csv", "a,b\n1,2\n3,inf\n")
    with pytest.raises(DataError, match="the column 'b' holds inf in row 2"):
        read_columns(path, Reading((Rule("a", "numeric"), Rule("b", "numeric"))))
    assert read_columns(path, Reading((Rule("a", "numeric"),)))[0]["a"].to_list() == [1, 3]
