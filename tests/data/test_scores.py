"""Batches of scores from files, and which value of the target is positive."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from rankwise.data import DataError
from rankwise.data.scores import Labels, ScoreBatch, ScoreFiles, is_large


def batch(values, *, written=False):
    return ScoreBatch(np.zeros(len(values)), pl.Series("y", values), written, 0, None)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_batches_hold_the_rows_with_a_target_in_order(tmp_path, monkeypatch, form):
    monkeypatch.setattr("rankwise.data.scores._ROWS", 7)
    target = [None if n % 5 == 4 else n % 2 for n in range(50)]
    scores = np.arange(50, dtype=np.float32) / 2
    frame = pl.DataFrame({"s": scores, "other": ["x"] * 50, "y": target, "mark": [True] * 50})
    path = tmp_path / f"a.{form}"
    frame.write_csv(path) if form == "csv" else frame.write_parquet(path)
    files = ScoreFiles((path, path), "y", "s", "mark")
    for _ in range(2):  # they can be read again
        found = list(files)
        assert sum(each.left_out for each in found) == 20
        assert sum(each.marked for each in found) == 100
        there = [n for n in range(50) if target[n] is not None]
        np.testing.assert_array_equal(
            np.concatenate([each.scores for each in found]), np.tile(scores[there], 2)
        )
    kind = np.float32 if form == "parquet" else np.float64
    assert all(each.scores.dtype == kind for each in found)
    assert form == "csv" or len(found) == 2 * 8


def test_the_first_value_is_taken_until_the_classes_are_known():
    labels = Labels()
    assert labels.of(batch([0, 0, 0])).tolist() == [True, True, True]
    assert labels.of(batch([1, 0])).tolist() == [False, True]
    assert labels.decide() is False  # 1 is positive, and 0 was taken
    assert labels.of(batch([1, 0])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("values", "written", "positive"),
    [
        (["1.0", "0", "1"], True, [True, False, True]),
        (["2", "10"], True, [False, True]),
        (["Yes", "No"], True, [True, False]),
        (["0", "1"], False, [False, True]),
        ([True, False], False, [True, False]),
        ([0.0, 1.0], False, [False, True]),
    ],
)
def test_values_are_read_as_a_whole_table_reads_them(values, written, positive):
    labels = Labels()
    labels.of(batch(values, written=written))
    labels.decide()
    assert labels.of(batch(values, written=written)).tolist() == positive


def test_a_value_that_was_asked_for_may_be_missing_in_a_part_alone():
    labels = Labels("1")
    assert labels.of(batch([0, 0])).tolist() == [False, False]
    assert labels.decide(one_class=True)
    with pytest.raises(DataError, match="has one class only"):
        labels.decide()
    labels.of(batch([2, 3]))
    with pytest.raises(DataError, match="--positive must be one of them"):
        labels.decide()


@pytest.mark.parametrize("reads", [is_large, lambda path: list(ScoreFiles((path,), "y", "s"))])
@pytest.mark.parametrize("end", [0, 7, -5])
def test_a_damaged_parquet_file_is_one_line_before_polars_reads_it(tmp_path, end, reads):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"s": [0.5, 1.5], "y": [0, 1]}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:end])
    with pytest.raises(DataError, match=r"a\.parquet: cannot be read as parquet"):
        reads(path)


def test_a_panic_of_polars_is_one_line(tmp_path, monkeypatch):
    class Panic(BaseException):
        """As polars raises it."""

    def panics(*arguments):
        raise Panic("index out of bounds")

    path = tmp_path / "a.parquet"
    pl.DataFrame({"s": [0.5, 1.5], "y": [0, 1]}).write_parquet(path)
    monkeypatch.setattr("rankwise.data.scores._frames", panics)
    with pytest.raises(DataError, match=r"a\.parquet: cannot be read as parquet: index out of"):
        list(ScoreFiles((path,), "y", "s"))
