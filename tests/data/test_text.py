"""Lines of text files with their fields and places."""

from __future__ import annotations

import gzip

import pytest

from rankwise.data import DataError
from rankwise.data._text import opened, read_fields, read_rows, require_new


def test_fields_come_with_the_number_of_their_line(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("\ufeffid path\n\n1 a b.jpg \n2 c.jpg\n", encoding="utf-8")
    found = list(read_fields(path, "id path", header=True))
    assert found == [(f"{path}: line 3", ["1", "a b.jpg"]), (f"{path}: line 4", ["2", "c.jpg"])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id path\n1\n", r"line 2: 1 fields where 2 belong: '1'; a line is 'id path'"),
        ("name path\n", "line 1: the header must be 'id path', got 'name path'"),
        ("", "the header must be"),
        ("id path\n\n", "is empty"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, text, message):
    path = tmp_path / "list.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        list(read_fields(path, "id path", header=True))


def test_files_that_are_no_text(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        list(read_fields(tmp_path / "gone", "id path"))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(DataError, match="cannot be read as text"):
        list(read_fields(tmp_path / "bytes", "id path"))


def test_nothing_is_listed_twice():
    seen = {}
    require_new(seen, "a", "x: line 1")
    require_new(seen, "b", "x: line 2")
    with pytest.raises(DataError, match=r"y: line 7: 'a' is listed already, in x: line 1"):
        require_new(seen, "a", "y: line 7")


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_file_is_opened_after_its_byte_order_mark(tmp_path, name, mark):
    text = mark + b"ab"
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    with opened(tmp_path / name) as file:
        assert file.read() == b"ab"


def test_blanks_in_the_last_field_can_be_refused(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("1 a b\n")
    with pytest.raises(DataError, match="line 1: 3 fields where 2 belong: '1 a b'"):
        list(read_fields(path, "id path", blanks=False))


def test_rows_of_a_csv_come_by_column(tmp_path):
    path = tmp_path / "list.csv"
    path.write_text("\ufeffid,path\n1,a\n", encoding="utf-8")
    assert list(read_rows(path, "path")) == [(f"{path}: line 2", {"id": "1", "path": "a"})]
    with pytest.raises(DataError, match="line 1: there is no column x and no y; the columns are"):
        list(read_rows(path, "id", "x", "y"))
    with pytest.raises(DataError, match="gone: there is no such file"):
        list(read_rows(tmp_path / "gone", "id"))
