from __future__ import annotations

import polars as pl
import pytest

from rankwise.data import DataError
from rankwise.data.interactions.delimited import read_delimited

TYPES = {"name": pl.String, "number": pl.Float64}
GOOD = "a\t1\nb\t2\n"


def read(path, **options):
    return read_delimited(path, "\t", TYPES, layout="a name and a number", **options)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("c", "1 fields where 2 belong"),
        ("c\t3\t4", "3 fields where 2 belong"),
        ("c\tthree", "number is no number"),
        ("c\tnan", "number is no number"),
        ("c\tinf", "number is no number"),
        ("\t3", "name is empty"),
        ("c\t", "number is empty"),
    ],
)
def test_the_wrong_line_is_named(tmp_path, line, why):
    path = tmp_path / "small.txt"
    path.write_text(f"{GOOD}{line}\nd\t4\n")
    with pytest.raises(DataError) as error:
        read(path)
    assert f"{path}: line 3: {why}" in str(error.value)
    assert str(error.value).endswith("a line is a name and a number")


def test_lines_are_counted_with_the_header(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text(f"name\tnumber\n{GOOD}c\tx\n")
    with pytest.raises(DataError, match="line 4: number is no number"):
        read(path, skip=1)


def test_a_quote_is_a_letter(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text('"a\t1\nb"\t2\n')
    assert read(path).rows() == [('"a', 1.0), ('b"', 2.0)]


def test_gaps_are_there_on_request(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text("a\t1\n\t\n")
    assert read(path, gaps=True).rows() == [("a", 1.0), (None, None)]


@pytest.mark.parametrize(("text", "skip"), [("", 0), ("name\tnumber\n", 1)])
def test_an_empty_file(tmp_path, text, skip):
    path = tmp_path / "small.txt"
    path.write_text(text)
    with pytest.raises(DataError, match="is empty"):
        read(path, skip=skip)


def test_a_separator_of_two_letters(tmp_path):
    path = tmp_path / "small.dat"
    path.write_text("a::1\r\nb::2\r\n")
    found = read_delimited(path, "::", TYPES, layout="name::number")
    assert found.rows() == [("a", 1.0), ("b", 2.0)]
