"""Lines of text files with their fields and places."""

from __future__ import annotations

import gzip

import pytest

from rankwise.data import DataError, read_table
from rankwise.data._text import (
    as_number,
    as_whole,
    opened,
    plain_source,
    read_fields,
    read_rows,
    require_new,
)
from rankwise.errors import UsageError


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


def test_a_gzip_that_was_cut_off_is_one_error(tmp_path):
    whole = gzip.compress(b"x,y\n" + b"1,0\n2,1\n" * 1000)
    path = tmp_path / "a.csv.gz"
    for length in (5, 20, len(whole) - 4):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match=r"a.csv.gz: cannot be read as"):
            read_table(path, target="y")
    path.write_bytes(b"x,y\n1,0\n")
    with pytest.raises(DataError, match="Not a gzipped file"):
        read_table(path, target="y")


def test_content_that_grows_too_large_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("rankwise.limits.FREE_GROWTH", 1 << 16)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n" + b"1,0\n" * 1_000_000))
    with pytest.raises(DataError, match=r"would grow from .* write it without compression"):
        read_table(path, target="y")
    with pytest.raises(UsageError, match="would grow"), opened(path) as file:
        file.read()


@pytest.mark.parametrize("head", [b"\x28\xb5\x2f\xfd", b"\x78\x9c"])
def test_polars_unpacks_nothing_by_itself(tmp_path, head):
    path = tmp_path / "a.csv"
    path.write_bytes(head + b"x,y\n1,0\n")
    with pytest.raises(DataError):
        read_table(path, target="y")
    path.write_bytes(gzip.compress(head + b"x"))
    with pytest.raises(DataError, match="compressed in a way that is not read"):
        plain_source(path)


def test_a_table_may_be_gzip_under_any_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(gzip.compress(b"x,y\n1,0\n"))
    assert plain_source(path) == b"x,y\n1,0\n"


@pytest.mark.parametrize("text", ["1_0", "", "0x1", "\u0661", "1e", "1 2", "infinity"])
def test_what_is_no_number(text):
    for parse in (as_number, as_whole):
        with pytest.raises(ValueError, match="is not a"):
            parse(text)


def test_numbers_as_files_write_them():
    assert [as_number(text) for text in ("1", "-.5", "2.", "1E3", "-inf")] == [
        *(1, -0.5, 2, 1000),
        float("-inf"),
    ]
    assert [as_whole(text) for text in ("7", "-3", "+0")] == [7, -3, 0]
    with pytest.raises(ValueError, match="is not a whole number"):
        as_whole("9" * 19)  # more than 64 bits hold


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x,y\r1,0\r2,1\r", "lines end with a carriage return alone"),
        (b"x" * 5_000_000, "line 1 has more than 4,194,304 bytes"),
        (b",".join(b"%d" % i for i in range(100_002)), "has 100,002 columns, at most 100,000"),
        (b"x,x\n" * 3, "duplicate columns: 'x'"),
    ],
    ids=["cr", "long", "wide", "twice"],
)
def test_headers_that_are_none(tmp_path, content, message):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as found:
        read_table(path, target="y")
    assert len(str(found.value)) < 1000
