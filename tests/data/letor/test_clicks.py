from __future__ import annotations

import pytest

from rankwise.data import DataError
from rankwise.data.letor import estimate_propensities, read_clicks, read_letor

HEADER = "query,document,position,click\n"


@pytest.fixture
def lists(tmp_path):
    (tmp_path / "lists.txt").write_text(
        "qid:7 1:1 #docid = a\nqid:7 1:2 #docid = b\nqid:8 1:3 #docid = a\n"
    )
    return read_letor(tmp_path / "lists.txt", judged=False)


def test_rows_are_added_up_by_document_and_position(tmp_path, lists):
    rows = "8,a,1,1\n7,b,2,0\n7,b,2,1\n7,b,1,1\n"
    (tmp_path / "clicks.csv").write_text(HEADER + rows)
    found = read_clicks(tmp_path / "clicks.csv", lists)
    columns = (found.rows, found.positions, found.shown, found.clicked)
    assert [column.tolist() for column in columns] == [[1, 1, 2], [1, 2, 1], [1, 2, 1], [1, 1, 1]]
    assert len(found) == 3


def test_rows_that_are_added_up_already(tmp_path, lists):
    (tmp_path / "clicks.csv").write_text("query,document,position,click,shown\n8,a,1,3,10\n")
    found = read_clicks(tmp_path / "clicks.csv", lists)
    assert (found.shown.tolist(), found.clicked.tolist()) == ([10], [3])


def test_rows_that_were_never_shown_are_left_out(tmp_path, lists):
    rows = "query,document,position,click,shown\n8,a,1,3,10\n7,b,1,0,0\n7,a,2,0,0\n"
    (tmp_path / "clicks.csv").write_text(rows)
    found = read_clicks(tmp_path / "clicks.csv", lists)
    assert (found.rows.tolist(), found.positions.tolist()) == ([2], [1])
    assert estimate_propensities(found).tolist() == [1]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("8,b,1,1\n", "1 rows have a document that is not in .*'b' of query '8'"),
        ("8,a,0,1\n", "row 1: position must be a whole number from 1, got position 0"),
        ("8,a,1.5,1\n", "row 1: position must be a whole number"),
        ("8,a,1,0\n8,a,1,2\n", "row 2: click must be at least 0 and at most"),
        ("8,a,1,yes\n", "row 1: click must be a number, got 'yes'"),
        ("8,a,,1\n", "row 1: position must be a number"),
        (
            "8,a,1e300,1\n",
            r"row 1: position and shown must be at most 1e\+15, got position 1e\+300",
        ),
    ],
)
def test_wrong_rows_are_named(tmp_path, lists, rows, why):
    (tmp_path / "clicks.csv").write_text(HEADER + rows)
    with pytest.raises(DataError, match=why):
        read_clicks(tmp_path / "clicks.csv", lists)


def test_a_log_that_shows_nothing_is_refused(tmp_path, lists):
    (tmp_path / "clicks.csv").write_text("query,document,position,click,shown\n8,a,1,0,0\n")
    with pytest.raises(DataError, match="no document was shown; there is nothing to learn"):
        read_clicks(tmp_path / "clicks.csv", lists)


def test_a_missing_column_is_named(tmp_path, lists):
    (tmp_path / "clicks.csv").write_text("query,document,rank,click\n8,a,1,1\n")
    with pytest.raises(DataError, match="no click column 'position'"):
        read_clicks(tmp_path / "clicks.csv", lists)
