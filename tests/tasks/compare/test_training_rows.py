from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.tasks.compare.stubs import problem, table

from rankwise.tasks.compare.row_hashes import row_hashes
from rankwise.tasks.compare.training_rows import TrainingRows


def known(repeated, held_out=1_000):
    return TrainingRows(np.zeros(0, dtype=np.uint64), held_out, repeated)


def test_training_rows_are_all_but_the_test_part(tmp_path):
    here = problem(tmp_path)
    found, parts = TrainingRows.of(here.table, here.plan.parts), here.plan.parts
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
    found, parts = TrainingRows.of(here.table, here.plan.parts), here.plan.parts
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
