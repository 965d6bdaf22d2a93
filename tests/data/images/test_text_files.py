from __future__ import annotations

import pytest

from rankwise.data import DataError
from rankwise.data.images._text_files import Once, located, read_fields, require_unseen


def test_the_folder_is_the_one_with_a_marker(tmp_path):
    inner = tmp_path / "Usual"
    inner.mkdir()
    with pytest.raises(DataError, match=r"no list\.txt or images here nor in Usual"):
        located(tmp_path, "Usual", "list.txt", "images")
    (inner / "images").mkdir()
    assert located(tmp_path, "Usual", "list.txt", "images") == inner
    (tmp_path / "list.txt").touch()
    assert located(tmp_path, "Usual", "list.txt", "images") == tmp_path
    with pytest.raises(DataError, match="no such folder"):
        located(tmp_path / "gone", "Usual", "list.txt")


def test_fields_come_with_the_number_of_their_line(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("\ufeffid path\n\n1 a b.jpg \n2 c.jpg\n", encoding="utf-8")
    found = list(read_fields(path, 2, "id path", header=True))
    assert found == [(3, ["1", "a b.jpg"]), (4, ["2", "c.jpg"])]


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
        list(read_fields(path, 2, "id path", header=True))


def test_files_that_are_no_text(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        list(read_fields(tmp_path / "gone", 2, "id path"))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(DataError, match="cannot be read as text"):
        list(read_fields(tmp_path / "bytes", 2, "id path"))


def test_test_classes_must_be_unseen():
    require_unseen({"a", "b"}, {"c"}, "here")
    with pytest.raises(DataError, match=r"here: 2 classes are both .* the first is 'b'"):
        require_unseen({"a", "b", "c"}, {"c", "b"}, "here")


def test_nothing_is_listed_twice(tmp_path):
    once = Once()
    once("a", tmp_path / "x", 1)
    once("b", tmp_path / "x", 2)
    with pytest.raises(DataError, match=r"y: line 7: 'a' is listed already, in .*x: line 1"):
        once("a", tmp_path / "y", 7)
