from __future__ import annotations

import pytest

from rankwise.data import DataError
from rankwise.data.letor import read_qrels, read_run, write_qrels, write_run

RUN = {"q1": {"a": 0.5, "b": 2.25, "c": 0.5}, "q2": {"a": -1e-9}}
QRELS = {"q1": {"a": 2, "z": 0}, "q2": {"b": -1}}


def test_what_is_written_is_read(tmp_path):
    write_run(tmp_path / "run.txt", RUN, tag="ours")
    assert read_run(tmp_path / "run.txt") == RUN
    lines = (tmp_path / "run.txt").read_text().splitlines()
    assert lines[0] == "q1 Q0 b 1 2.25 ours"
    assert lines[1].split()[2] == "c"  # tied: the last id first
    write_qrels(tmp_path / "new" / "qrels.txt", QRELS)
    assert read_qrels(tmp_path / "new" / "qrels.txt") == QRELS
    names = sorted(p.name for p in (tmp_path / "new").iterdir())
    assert names == ["qrels.txt", "qrels.txt.sha256"]


def test_a_mark_of_byte_order_is_no_part_of_a_query(tmp_path):
    for name, text in (("run.txt", b"q1 Q0 b 1 1.5 t\n"), ("qrels.txt", b"q1 0 b 2\n")):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text)
    assert read_run(tmp_path / "run.txt") == {"q1": {"b": 1.5}}
    assert read_qrels(tmp_path / "qrels.txt") == {"q1": {"b": 2}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1 Q0 a 1 0.5", "line 2: 5 fields where 6 belong"),
        ("q1 Q0 a 1 high t", "line 2: the score must be a number, got 'high'"),
        ("q1 Q0 a 1 nan t", "line 2: the score must be a number, got 'nan'"),
        ("q1 Q0 b 2 0.5 t", "line 2: document 'b' was already there for query 'q1'"),
    ],
)
def test_runs_that_are_none(tmp_path, line, message):
    path = tmp_path / "run.txt"
    path.write_text(f"q1 Q0 b 1 1.5 t\n{line}\n")
    with pytest.raises(DataError) as error:
        read_run(path)
    assert f"{path}: {message}" in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 0 a 1\nq1 0 b\n", "line 2: 3 fields where 4 belong"),
        ("q1 0 a 1.5\n", "line 1: the relevance must be a whole number, got '1.5'"),
        ("q1 0 a 1\nq1 0 a 0\n", "line 2: document 'a' was already there"),
        ("\n", "is empty; a line is 'query iteration document relevance'"),
    ],
)
def test_qrels_that_are_none(tmp_path, text, message):
    path = tmp_path / "qrels.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_qrels(path)


def test_spaces_have_no_place_in_ids(tmp_path):
    with pytest.raises(DataError, match="the document 'a b' has one"):
        write_run(tmp_path / "run.txt", {"q": {"a b": 1.0}})
    with pytest.raises(DataError, match="there is no such file"):
        read_run(tmp_path / "run.txt")


@pytest.mark.parametrize("number", ["1_0", "\u0661", "0x1", "9" * 30])
def test_numbers_of_python_alone_are_none(tmp_path, number):
    path = tmp_path / "a"
    path.write_text(f"q 0 d {number}\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 1: the relevance must be a whole number"):
        read_qrels(path)
    if len(number) < 30:
        path.write_text(f"q Q0 d 1 {number} tag\n", encoding="utf-8")
        with pytest.raises(DataError, match="line 1: the score must be a number"):
            read_run(path)


def test_a_word_of_millions_of_letters_is_not_printed(tmp_path):
    path = tmp_path / "a"
    path.write_text(f"q 0 d {'x' * 10_000_000}\n")
    with pytest.raises(DataError) as found:
        read_qrels(path)
    assert len(str(found.value)) < 500
