"""Tests of LETOR files."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from rankwise.data import DataError, read_table
from rankwise.data.letor import Letor, _letor, read_letor

FEATURES = np.array([[0, 1], [0, 2], [0, 3]], dtype=np.float32)


def letor(features=FEATURES, documents=None):
    return Letor(Path("f.txt"), features, np.zeros(3), np.array([0, 0, 1]), ("q7", "q9"), documents)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_features_for_a_model_of_more_columns_are_filled_with_zeros(make):
    given = letor(make(FEATURES))
    assert (len(given), given.width) == (3, 2)
    wide = given.columns(4)
    assert sparse.issparse(wide) == (make is sparse.csr_array)
    dense = wide.toarray() if sparse.issparse(wide) else wide
    np.testing.assert_array_equal(dense, np.pad(FEATURES, ((0, 0), (0, 2))))
    assert given.columns(2) is given.features
    assert given.width == 2  # untouched


def test_more_features_than_the_model_knows_are_refused():
    with pytest.raises(DataError, match=r"f\.txt: has feature 1, the last of the model is 0"):
        letor().columns(1)


def test_a_document_has_its_id_or_its_place():
    assert [letor().document(row) for row in range(3)] == ["q7-1", "q7-2", "q9-1"]
    named = letor(documents=("GX1", "", "GX3"))
    assert [named.document(row) for row in range(3)] == ["GX1", "q7-2", "GX3"]


def test_the_line_of_a_document_is_told_or_its_row(tmp_path):
    path = tmp_path / "f.txt"
    path.write_text("# head\n0 qid:7 1:1\n\n0 qid:7 1:2\n0 qid:9 1:3\n")
    assert replace(letor(), path=path).place(1) == f"{path}: line 4"
    assert letor().place(1) == "f.txt: row 2"


MQ2008 = """0 qid:10002 1:0.007477 2:0.000000 46:0.076923 #docid = GX008-86-4444840 inc = 1 prob = 0
1 qid:10002 1:0.603738 2:0.000000 46:1.000000 #docid = GX037-06-11625428 inc = 0.0031 prob = .89
2 qid:10032 1:0.5 2:1.0 46:0.5 #docid = GX029-35-5894638 inc = 0.0119 prob = .12
"""
MSLR = "2 qid:1 1:3 2:3 3:0 4:-7.5e-2\n0 qid:1 1:0 2:1 3:2 4:1\n1 qid:7 1:1 2:1 3:1 4:1\n"


def written(folder, text, name="train.txt"):
    path = folder / name
    path.write_text(text)
    return path


def test_letor_with_documents_in_comments(tmp_path):
    found = read_letor(written(tmp_path, MQ2008))
    assert found.queries == ("10002", "10032")
    assert found.groups.tolist() == [0, 0, 1]
    assert found.target.tolist() == [0, 1, 2]
    assert found.documents == ("GX008-86-4444840", "GX037-06-11625428", "GX029-35-5894638")
    assert found.width == 47
    assert np.asarray(found.features.todense())[1, [1, 46]].tolist() == [np.float32(0.603738), 1]


def test_mslr_is_dense_and_32_bit(tmp_path):
    found = read_letor(written(tmp_path, MSLR))
    assert isinstance(found.features, np.ndarray)
    assert found.features.dtype == np.float32
    assert found.features.tolist()[0] == [0, 3, 3, 0, np.float32(-0.075)]
    assert found.documents is None
    assert [found.document(row) for row in range(3)] == ["1-1", "1-2", "7-1"]


def test_yahoo_leaves_out_what_is_zero(tmp_path):
    text = "".join(f"{n % 3} qid:{n // 4} {10 + n}:0.5 {690 + n}:1\n" for n in range(8))
    found = read_letor(written(tmp_path, text))
    assert sparse.issparse(found.features)
    assert found.width == 698
    assert found.features.toarray()[3, 13] == 0.5


def test_chunks_change_nothing(tmp_path, monkeypatch):
    text = "".join(f"{n % 2} qid:{n // 3} {1 + n % 5}:{n} # d{n}\n" for n in range(40))
    path = written(tmp_path, text)
    whole = read_letor(path)
    monkeypatch.setattr(_letor, "_CHUNK", 50)
    parts = read_letor(path)
    assert (whole.features.toarray() == parts.features.toarray()).all()
    assert (whole.groups == parts.groups).all()
    assert whole.documents == parts.documents == tuple(f"d{n}" for n in range(40))


def test_compressed_and_without_a_last_line_end(tmp_path):
    path = tmp_path / "train.txt.gz"
    path.write_bytes(gzip.compress(MSLR.rstrip().encode()))
    assert read_letor(path).queries == ("1", "7")


def test_sizes_beside_the_file_as_lightgbm_has_them(tmp_path):
    path = written(tmp_path, "1 1:1\n0 1:2\n0 1:3\n", "rank.train")
    with pytest.raises(DataError, match=r"no line has qid:, and there is no rank.train.query"):
        read_letor(path)
    written(tmp_path, "1\n2\n", "rank.train.query")
    found = read_letor(path)
    assert (found.queries, found.groups.tolist()) == (("1", "2"), [0, 1, 1])
    for text, message in (
        ("1\n1\n", "the sizes add up to 2, the lists have 3 rows"),
        ("1\nx\n", "line 2: a size must be a whole number >= 1, got 'x'"),
        ("0\n3\n", "line 1: a size must be"),
    ):
        written(tmp_path, text, "rank.train.query")
        with pytest.raises(DataError, match=message):
            read_letor(path)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("x qid:1 1:1", "the relevance 'x' is not a number"),
        ("1 qid:a 1:1", "'qid:a' is not a whole number"),
        ("1 qid:1 1:x", "'1:x' is not feature:value"),
        ("1 qid:1 1", "'1' is not feature:value"),
        ("1 qid:1 2:1 1:1", "feature 1 comes after feature 2"),
        ("1 qid:1 1:nan", "'1:nan' is not feature:value"),
        ("1 qid:1 1:1e300", "the value of '1:1e300' is beyond the range of 32-bit numbers"),
        ("1 qid:1 1:1 1000001:1", "feature 1000001 is beyond the last that can be, 1000000"),
        ("1 qid:1 99999999999:1", "feature 99999999999 is beyond the last that can be, 1000000"),
        ("1e400 qid:1 1:1", "the relevance '1e400' is too large"),
        ("1 qid:99999999999999999999 1:1", "'qid:99999999999999999999' is too large"),
        ("1 1:1", "no qid:, other lines have one"),
    ],
)
def test_malformed_lines_are_named(tmp_path, line, why):
    path = written(tmp_path, f"# a comment\n0 qid:1 1:1\n\n{line}\n1 qid:1 1:2\n")
    with pytest.raises(DataError) as error:
        read_letor(path)
    assert f"{path}: line 4: {why}" in str(error.value)


def test_the_last_feature_there_may_be(tmp_path):
    found = read_letor(written(tmp_path, "0 qid:1 1000000:1\n1 qid:1 1:3.4e38\n"))
    assert found.width == 1_000_001
    assert sparse.issparse(found.features)


@pytest.mark.parametrize("name", ["train.txt", "train.txt.gz"])
@pytest.mark.parametrize("chunk", [5, 1 << 25])
def test_a_mark_of_byte_order_is_no_text(tmp_path, monkeypatch, name, chunk):
    monkeypatch.setattr(_letor, "_CHUNK", chunk)
    path, text = tmp_path / name, b"\xef\xbb\xbf" + MSLR.encode()
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    found = read_letor(path)
    assert found.target.tolist() == [2, 0, 1]
    assert found.queries == ("1", "7")
    path = tmp_path / "again.txt"
    path.write_bytes(text + b"x qid:8 1:1\n")
    with pytest.raises(DataError, match="line 4: the relevance 'x' is not a number"):
        read_letor(path)


def test_a_mark_of_byte_order_before_sizes(tmp_path):
    path = written(tmp_path, "1 1:1\n0 1:2\n", "rank.train")
    (tmp_path / "rank.train.query").write_bytes(b"\xef\xbb\xbf1\n1\n")
    assert read_letor(path).queries == ("1", "2")


def test_a_query_in_two_places(tmp_path):
    path = written(tmp_path, "0 qid:1 1:1\n1 qid:2 1:1\n# here\n0 qid:1 1:1\n1 qid:2 1:1\n")
    with pytest.raises(DataError) as error:
        read_letor(path)
    assert (
        f"{path}: line 4: the query 1 is back after another one; its lines must stand together, "
        "the last was line 1 (2 such places)"
    ) in str(error.value)


def test_what_else_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="line 2: the relevance must not be below 0, got -1"):
        read_letor(written(tmp_path, "1 qid:1 1:1\n-1 qid:1 1:1\n"))
    with pytest.raises(DataError, match="is empty"):
        read_letor(written(tmp_path, "# nothing\n"))
    with pytest.raises(DataError, match="there is no such file"):
        read_letor(tmp_path / "nowhere.txt")
    with pytest.raises(DataError, match="is a folder"):
        read_letor(tmp_path)


def test_columns_for_a_model(tmp_path):
    found = read_letor(written(tmp_path, MSLR))
    assert found.columns(7).shape == (3, 7)
    assert found.columns(7)[:, 5:].max() == 0
    with pytest.raises(DataError, match="has feature 4, the last of the model is 3"):
        found.columns(4)


UNJUDGED = {
    "no relevance": "{rest}",
    "a constant": "0 {rest}",
    "a negative one": "-1 {rest}",
    "a question mark": "? {rest}",
    "no number": "nan {rest}",
}


@pytest.mark.parametrize("line", UNJUDGED.values(), ids=UNJUDGED)
def test_documents_without_a_judgment(tmp_path, line):
    rest = [text.partition(" ")[2] for text in MQ2008.splitlines()]
    path = written(
        tmp_path, "# a comment: first\n" + "".join(line.format(rest=r) + "\n" for r in rest)
    )
    found = read_letor(path, judged=False)
    known = read_letor(written(tmp_path, MQ2008, "judged.txt"))
    assert (found.features != known.features).nnz == 0
    assert found.queries == known.queries
    assert found.documents == known.documents
    assert found.groups.tolist() == known.groups.tolist()
    assert found.target.tolist() == [0, 0, 0]


def test_documents_without_a_judgment_or_a_query(tmp_path):
    path = written(tmp_path, "1:3 2:4\n2:1\n1:1 3:5\n")
    written(tmp_path, "2\n1\n", "train.txt.query")
    found = read_letor(path, judged=False)
    assert found.groups.tolist() == [0, 0, 1]
    assert found.features[:, 1].tolist() == [3, 0, 1]


def test_a_malformed_line_without_a_judgment_is_named(tmp_path):
    path = written(tmp_path, "qid:1 1:1\nqid:1 1=2\n")
    with pytest.raises(DataError, match="line 2: '1=2' is not feature:value"):
        read_letor(path, judged=False)
    with pytest.raises(DataError, match="line 1: the relevance 'qid:1' is not a number"):
        read_letor(path)


@pytest.mark.parametrize(
    "line", ["1_0 qid:1 1:1", "1 qid:1 1:1_0", "1 qid:1_0 1:1", "1 qid:1 1_0:1"]
)
def test_an_underscore_is_in_no_number(tmp_path, line):
    path = tmp_path / "a.txt"
    path.write_text(f"{line}\n0 qid:1 1:2\n")
    with pytest.raises(DataError, match="line 1: "):
        read_letor(path)
    path = path.rename(tmp_path / "a.svm")
    with pytest.raises(DataError, match="line 1: a number has an underscore"):
        read_table(path, target=None)


def test_one_large_feature_number_makes_no_model_of_a_million_columns(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("1 qid:1 1:1 1000000:1\n0 qid:1 1:2\n")
    lists = read_letor(path)
    assert lists.width == 1_000_001  # which is what a model of such a width scores
    with pytest.raises(
        DataError, match=r"has feature 1000000 and 3 values in all; .* without gaps"
    ):
        lists.require_width()
    path = path.rename(tmp_path / "a.svm")
    with pytest.raises(DataError, match="without gaps"):
        read_table(path, target=None)
    path.write_text("1 1:1 9999:1\n0 1:2\n")
    assert len(read_table(path, target=None).names) == 9999
