from __future__ import annotations

import polars as pl
import pytest

from rankwise.data import DataError
from rankwise.tasks.compare import fuse_files

A = "q,d,s,y\n2,a,3,1\n2,b,2,0\n10,a,1,0\n"
B = "d,s,q\nb,.9,2\nc,.1,2\nz,.2,10\na,.3,10\n"


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, text in zip(paths, (A, B), strict=True):
        path.write_text(text)
    return paths


def test_rows_are_matched_by_their_ids(files):
    found = fuse_files(files, ids=["d"], score="s", group="q", keep=["y"])
    assert found.columns == ["q", "d", "y", "score", "systems"]
    expected = {
        (2, "a"): 1 / 61,
        (2, "b"): 1 / 62 + 1 / 61,
        (2, "c"): 1 / 62,
        (10, "a"): 1 / 61 + 1 / 61,
        (10, "z"): 1 / 62,
    }
    scores = {(q, d): s for q, d, _, s, _ in found.rows()}
    assert scores == pytest.approx(expected)
    assert found["systems"].to_list() == [2, 1, 1, 2, 1]
    assert found["d"].to_list() == ["b", "a", "c", "a", "z"]  # the highest first in each list
    assert found["y"].to_list() == [0, 1, None, 0, None]


def test_without_a_group_all_rows_are_one_list(tmp_path):
    for name, text in (("a", "id,s\n007,2\n8,1\n"), ("b", "id,s\n8,5\n007,4\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    found = fuse_files(paths, ids=["id"], score="s", method="combsum")
    assert found["score"].to_list() == [1, 1]
    assert found["id"].to_list() == ["007", "8"]  # an id keeps its zeros


def test_parquet_and_csv_may_be_mixed(files, tmp_path):
    path = tmp_path / "b.parquet"
    pl.read_csv(files[1]).write_parquet(path)
    options = {"ids": ["d"], "score": "s", "group": "q", "method": "combmnz"}
    assert fuse_files([files[0], path], **options).equals(fuse_files(files, **options))


def test_what_is_refused(files, tmp_path):
    options = {"ids": ["d"], "score": "s", "group": "q"}
    with pytest.raises(DataError, match="at least two files, got 1"):
        fuse_files(files[:1], **options)
    with pytest.raises(DataError, match=r"several rows have d 'a'; .* its list with --group"):
        fuse_files(files, ids=["d"], score="s")
    with pytest.raises(DataError, match="--keep x: there is no such column in any"):
        fuse_files(files, **options, keep=["x"])
    with pytest.raises(DataError, match="no id column 'doc'"):
        fuse_files(files, ids=["doc"], score="s")
    with pytest.raises(DataError, match="'score' is the name of a column that is written"):
        fuse_files(files, ids=["score"], score="s")
    with pytest.raises(DataError, match="the column 's' is named twice"):
        fuse_files(files, ids=["s"], score="s")
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("q,d,s\n1,a,high\n")
    with pytest.raises(DataError, match="must hold a number in every row, got 'high' in row 1"):
        fuse_files([files[0], wrong], **options)
    wrong.write_text("q,d,s\n1,a,3\n1,,3\n")
    with pytest.raises(DataError, match="the id column 'd' has no value in row 2"):
        fuse_files([files[0], wrong], **options)
    wrong.write_text("q,d,s\n1,a,inf\n")
    with pytest.raises(DataError, match="must be finite to be normalized"):
        fuse_files([files[0], wrong], **options, method="combsum")
