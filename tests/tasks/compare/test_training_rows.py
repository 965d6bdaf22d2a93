from __future__ import annotations

import time
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from tests.tasks.compare.stubs import problem, table

from rankwise.data import read_columns
from rankwise.data.reading import Reading, Rule
from rankwise.tasks.compare.training_rows import TrainingRows, row_hashes


def known(repeated, held_out=1_000):
    return TrainingRows(np.zeros(0, dtype=np.uint64), held_out, repeated)


def test_training_rows_are_all_but_the_test_part(tmp_path):
    here = problem(tmp_path)
    found, parts = TrainingRows.of(here.table, here.plan), here.plan.parts
    names = here.table.names
    assert found.hashes.dtype == np.uint64
    assert (np.diff(found.hashes) > 0).all()
    assert (len(found.hashes), found.held_out, found.repeated) == (480, 120, 0)
    assert found.among(here.table.of(parts.development), names).all()
    assert not found.among(here.table.of(parts.test), names).any()
    expected = np.unique(row_hashes(here.table.of(parts.development), names))
    np.testing.assert_array_equal(found.hashes, expected)


def test_duplicates_among_the_held_out_rows_are_counted(tmp_path):
    pl.concat([table(), table()]).write_csv(tmp_path / "table.csv")
    here = problem(tmp_path)
    found, parts = TrainingRows.of(here.table, here.plan), here.plan.parts
    features = here.table.features
    trained = set(map(str, features[parts.development].iter_rows()))  # nan is not nan
    repeated = sum(str(row) in trained for row in features[parts.test].iter_rows())
    assert 0.6 < repeated / len(parts.test) < 0.95
    assert (found.held_out, found.repeated) == (240, repeated)
    assert found.duplicate_rate == repeated / 240
    assert len(found.hashes) == len(trained)


def test_one_training_row_is_too_many_where_held_out_rows_repeat_none():
    assert known(0).exceeded_by(1, 10_000)
    assert not known(0).exceeded_by(0, 10_000)


@pytest.mark.parametrize("repeated", [20, 300, 900])
def test_new_rows_with_the_duplicates_of_the_held_out_rows_are_no_warning(repeated):
    rng = np.random.default_rng(0)
    held_out, new = (rng.binomial(1_000, repeated / 1_000, size=400) for _ in range(2))
    false = [known(int(m)).exceeded_by(int(n), 1_000) for m, n in zip(held_out, new, strict=True)]
    assert np.mean(false) <= 0.03


@pytest.mark.parametrize("repeated", [1, 20, 300, 900, 990])
def test_training_rows_are_more_than_their_duplicates_explain(repeated):
    assert known(repeated).exceeded_by(4_000, 4_000)
    mixed = 500 + repeated // 2  # half of a thousand new rows replaced by training rows
    assert known(repeated).exceeded_by(mixed, 1_000) == (repeated < 990)


def test_where_every_held_out_row_repeats_one_nothing_can_be_said():
    assert not known(1_000).exceeded_by(500, 500)


ROWS = 2_000


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=ROWS) * 10.0 ** rng.integers(-6, 9, size=ROWS)
    return pl.DataFrame(
        {
            "number": np.where(rng.random(ROWS) < 0.1, np.nan, numbers),
            "count": rng.integers(5, size=ROWS),
            "flag": rng.random(ROWS) < 0.5,
            "day": pl.Series(rng.integers(20_000, size=ROWS)).cast(pl.Int32).cast(pl.Date),
            "word": rng.choice(["red", "green", "é", ""], ROWS),
        }
    ).with_columns(pl.col("number").fill_nan(None))


def hashes_of(path, names):
    rules = {"flag": ("numeric", "boolean"), "day": ("time", "%Y-%m-%d"), "word": ("categorical",)}
    reading = Reading(tuple(Rule(name, *rules.get(name, ("numeric",))) for name in names))
    return row_hashes(read_columns(path, reading)[0], names)


def test_the_hash_is_the_same_from_csv_and_parquet_and_in_any_column_order(tmp_path, frame):
    names = frame.columns
    frame.write_parquet(tmp_path / "a.parquet")
    frame.select(reversed(names)).write_csv(tmp_path / "b.csv")
    frame.with_columns(extra=1).write_csv(tmp_path / "c.csv")
    expected = hashes_of(tmp_path / "a.parquet", names)
    assert expected.dtype == np.uint64
    np.testing.assert_array_equal(hashes_of(tmp_path / "b.csv", names), expected)
    np.testing.assert_array_equal(hashes_of(tmp_path / "c.csv", names[::-1]), expected)
    assert (
        len(np.unique(expected)) == frame.with_columns(pl.col("word").replace("", None)).n_unique()
    )


def test_the_hash_is_the_same_however_floats_are_written(tmp_path, frame):
    values = frame["number"].drop_nulls().to_numpy()
    single = pl.DataFrame({"x": values.astype(np.float32)})
    single.write_parquet(tmp_path / "single.parquet")
    single.write_csv(tmp_path / "single.csv")
    (tmp_path / "digits.csv").write_text("x\n" + "".join(f"{value:.15g}\n" for value in values))
    (tmp_path / "powers.csv").write_text("x\n" + "".join(f"{value:.17e}\n" for value in values))
    expected = row_hashes(pl.DataFrame({"x": values}), ["x"])
    for name in ("single.parquet", "single.csv", "digits.csv", "powers.csv"):
        np.testing.assert_array_equal(hashes_of(tmp_path / name, ["x"]), expected)


def test_the_hash_stays_the_same_between_versions():
    rows = pl.DataFrame({"x": [0.0, 1.5, None, -0.0], "word": ["red", None, "", "red"]})
    found = row_hashes(rows, ["x", "word"])
    expected = [
        7914628294609614841,
        10454126715672257369,
        7670884481694586387,
        7914628294609614841,
    ]
    assert found.tolist() == expected


def test_the_hash_of_a_time_does_not_depend_on_its_unit():
    days = [date(1969, 5, 1), date(1970, 1, 1), None, date(2024, 2, 29)]
    column = pl.Series("day", days)
    expected = row_hashes(pl.DataFrame(column), ["day"])
    assert len(set(expected.tolist())) == 4
    for unit in ("ms", "us", "ns"):
        same = pl.DataFrame(column.cast(pl.Datetime(unit)))
        np.testing.assert_array_equal(row_hashes(same, ["day"]), expected)
    spans = pl.Series("span", [timedelta(1), timedelta(days=1, microseconds=1), None])
    assert len(set(row_hashes(pl.DataFrame(spans), ["span"]).tolist())) == 3


def test_equal_values_in_other_columns_are_another_row():
    rows = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [2.0, 1.0, 3.0]})
    assert len(set(row_hashes(rows, ["a", "b"]).tolist())) == 3
    swapped = pl.DataFrame({"a": ["x", "y", ""], "b": ["y", "x", "x"]})
    assert len(set(row_hashes(swapped, ["a", "b"]).tolist())) == 3


def test_sparse_rows_hash_as_dense_ones_and_as_a_table():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(300, 6)) * (rng.random((300, 6)) < 0.3)
    names = [f"f{number}" for number in range(1, 7)]
    expected = row_hashes(pl.DataFrame(dense, schema=names), names)
    np.testing.assert_array_equal(row_hashes(dense, names), expected)
    np.testing.assert_array_equal(row_hashes(sparse.csr_array(dense), names), expected)
    assert len(np.unique(expected)) == len(np.unique(dense, axis=0))


def test_a_hundred_thousand_rows_take_about_a_second():
    rng = np.random.default_rng(0)
    columns = {f"x{number}": rng.normal(size=100_000) for number in range(20)}
    words = pl.Series(rng.integers(100_000, size=100_000)).cast(pl.String)
    rows = pl.DataFrame({**columns, "word": words})
    began = time.process_time()
    row_hashes(rows, rows.columns)
    assert time.process_time() - began < 3
