from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest

from rankwise.data import DataError
from rankwise.data.files import format_of, read_frame, read_svmlight

LETOR = "2 qid:7 1:0.5 3:1 # a\n0 qid:7 2:2\n1 qid:9 1:-1e-3\n"
CUT = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (n, n**5) for n in range(999)), mtime=0)[:-500]


def written(tmp_path, name: str, content: str | bytes):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.csv", "", "csv"),  # the ending decides, whatever is inside
        ("a.TSV", "", "csv"),
        ("a.b.csv.gz", "", "csv"),
        ("a.pq", "", "parquet"),
        ("a.libsvm", "", "svmlight"),
        ("a", LETOR, "svmlight"),
        ("a.txt", "1 1:2 2:nan\n", "svmlight"),
        ("a.data", b"PAR1\x00\x01", "parquet"),
    ],
)
def test_the_format_by_ending_or_else_by_beginning(tmp_path, name, content, kind) -> None:
    assert format_of(written(tmp_path, name, content)) == kind


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "", "is empty"),
        ("a.txt", "hello there\n", "is not a known format; write .csv"),
        ("a.xlsx", b"PK\x03\x04", "is not a known format"),
    ],
)
def test_what_has_no_format(tmp_path, name, content, message) -> None:
    with pytest.raises(DataError, match=message):
        format_of(written(tmp_path, name, content))


def test_types_are_those_of_all_the_values(tmp_path) -> None:
    rows = "".join(f"{n},{n / 2},2024-01-02,x\n" for n in range(2000))
    found = read_frame(written(tmp_path, "a.csv", f"a,b,day,w\n{rows}letter,NA,,?\n"), "csv")
    assert found.dtypes == [pl.String, pl.Float64, pl.Date, pl.String]
    assert found[-1].row(0) == ("letter", None, None, None)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_what_parts_the_columns_is_found(tmp_path, separator) -> None:
    text = f"\ufeffa{separator}b\n1{separator}2\n"
    found = read_frame(written(tmp_path, "a.csv", text), "csv")
    assert (found.columns, found.row(0)) == (["a", "b"], (1, 2))


def test_a_quoted_comma_parts_nothing(tmp_path) -> None:
    found = read_frame(written(tmp_path, "a.csv", '"a, or b",c\n"1, 2",3\n'), "csv")
    assert (found.columns, found.row(0)) == (["a, or b", "c"], ("1, 2", 3))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "\n", "is empty"),
        ("a.csv", "a,b\n", "is empty: 2 columns and no rows"),
        ("a.csv", "a,b,a,b,b\n1,2,3,4,5\n", "duplicate columns: 'a', 'b'; every column needs"),
        ("a.csv", b"a,\xff\xfe\n1,2\n", "cannot be read as csv"),
        ("a.csv", "a,b\n1,2,3\n", "line 2: 3 fields where 2 belong: '1,2,3'"),
        ("a.csv", 'a;b\n"1;5";2\n\n1;2;3\n', "line 4: 3 fields where 2 belong: '1;2;3'; a field"),
        (
            "a.csv.gz",
            gzip.compress(b"a,b\n1,2\n1,2,3,4\n", mtime=0),
            "line 3: 4 fields where 2 belong",
        ),
        ("a.csv.gz", b"not gzip", "cannot be read as csv"),
        ("a.csv.gz", CUT, "cannot be read as csv"),
        ("a.parquet", b"PAR1 and nothing else", "cannot be read as parquet"),
        ("a.parquet", b"", "cannot be read as parquet"),
    ],
)
def test_broken_tables_are_said_to_be_so_in_one_line(tmp_path, name, content, message) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(DataError, match=message) as error:
        read_frame(path, "parquet" if name.endswith("parquet") else "csv")
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_svmlight_with_queries(tmp_path) -> None:
    found = read_svmlight(written(tmp_path, "a.svm", LETOR))
    np.testing.assert_allclose(
        found.features.toarray(), [[0, 0.5, 0, 1], [0, 0, 2, 0], [0, -1e-3, 0, 0]]
    )
    assert found.target.tolist() == [2, 0, 1]
    assert found.queries.tolist() == [7, 7, 9]


@pytest.mark.parametrize("name", ["a.txt", "a.svm.gz"])
def test_svmlight_after_a_mark_of_byte_order(tmp_path, name) -> None:
    text = b"\xef\xbb\xbf" + LETOR.encode()
    path = written(tmp_path, name, gzip.compress(text, mtime=0) if name.endswith("gz") else text)
    assert format_of(path) == "svmlight"
    assert read_svmlight(path).target.tolist() == [2, 0, 1]


def test_svmlight_without_queries_and_with_their_sizes(tmp_path) -> None:
    path = written(tmp_path, "a.svm", "1 1:1\n0 1:2\n0 1:3\n")
    assert read_svmlight(path).queries.tolist() == []
    written(tmp_path, "a.svm.query", "1\n2\n")
    assert read_svmlight(path).queries.tolist() == [0, 1, 1]
    written(tmp_path, "a.svm.query", "1\n1\n")
    with pytest.raises(DataError, match="the sizes add up to 2, the lists have 3 rows"):
        read_svmlight(path)
    written(tmp_path, "a.svm.query", "many\n")
    with pytest.raises(DataError, match="line 1: a size must be a whole number >= 1, got 'many'"):
        read_svmlight(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n", "cannot be read as svmlight"),
        ("1 1:2\n0\n1 1:2 2:inf\n0 1:1\n", "line 3: feature 2 holds an infinite value"),
        ("# a\n1 1:2\n\n0 1:1 200000000:1\n", "line 4: feature 200000000 is beyond the last that"),
        ("1 1:2\n0 99999999999:1\n", "cannot be read as svmlight"),
    ],
)
def test_broken_svmlight(tmp_path, content, message) -> None:
    with pytest.raises(DataError, match=message):
        read_svmlight(written(tmp_path, "a.svm", content))
