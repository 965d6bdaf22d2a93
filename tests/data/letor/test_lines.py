from __future__ import annotations

import pytest

from rankwise.data.letor._lines import complain, document_of, line_of


def test_documents_of_comments():
    assert document_of(b"1 qid:1 1:1 #docid = GX1 inc = 1") == "GX1"
    assert document_of(b"1 qid:1 1:1 # GX2 and more") == "GX2"
    assert document_of(b"1 qid:1 1:1") == ""
    assert document_of(b"1 qid:1 1:1 #") == ""


def test_rows_are_not_lines(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text("# head\n1 qid:1 1:1\n\n0 qid:1 1:2\n")
    assert [line_of(path, row) for row in (0, 1)] == [2, 4]
    with pytest.raises(ValueError, match="has no row 2"):
        line_of(path, 2)


def test_nothing_is_said_of_what_is_right(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text("1 qid:1 1:1e-3 5:.5 # x\n+2.5 qid:1 3:-1\n")
    assert complain(path) is None
