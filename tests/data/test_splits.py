from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.data import DataError, Table, folds, split
from rankwise.data.splits import FEW, count_positives, rarest_count


def table(target, groups=None, time=None):
    target = np.asarray(target, dtype=float)
    return Table(
        Path("a.csv"),
        pl.DataFrame({"x": np.arange(len(target))}),
        ("x",),
        ("numeric",),
        target,
        "1",
        None if groups is None else np.asarray(groups),
        None if time is None else np.asarray(time, dtype=float),
    )


def rare(rows, positives):
    return np.arange(rows) < positives


@settings(max_examples=25)
@given(st.integers(60, 400), st.integers(20, 30), st.integers(0, 99))
def test_parts_share_no_row_and_have_the_same_share_of_positives(rows, positives, seed):
    data = table(rare(rows, positives))
    parts = split(data, seed=seed)
    everything = np.concatenate([parts.train, parts.validation, parts.test])
    assert sorted(everything) == list(range(rows))
    for part, share in ((parts.train, 0.6), (parts.validation, 0.2), (parts.test, 0.2)):
        assert abs(data.target[part].sum() - share * positives) <= 1
        assert abs(len(part) - share * rows) <= 2
    assert parts.kind == "stratified"
    assert sorted(parts.development) == sorted([*parts.train, *parts.validation])


def test_the_seed_decides():
    data = table(rare(100, 30))
    assert split(data, seed=1).test.tolist() == split(data, seed=1).test.tolist()
    assert split(data, seed=1).test.tolist() != split(data, seed=2).test.tolist()


def test_whole_groups_in_one_part_with_positives_in_all():
    rng = np.random.default_rng(0)
    groups = rng.integers(50, size=600) * 7  # not 0, 1, …
    data = table((groups % 5 == 0) & (rng.random(600) < 0.3), groups)
    parts = split(data)
    assert parts.kind == "grouped"
    sets = [set(groups[rows]) for rows in (parts.train, parts.validation, parts.test)]
    assert sum(map(len, sets)) == len(set.union(*sets))
    with_positive = {g for g, y in zip(groups, data.target, strict=True) if y}
    for found, share in zip(sets, (0.6, 0.2, 0.2), strict=True):
        assert abs(len(found & with_positive) - share * len(with_positive)) <= 1


def test_by_time_the_past_comes_first_and_equal_times_stay_together():
    time = np.repeat(np.arange(20), 5)[::-1]
    data = table(np.arange(100) % 2, time=time)
    parts = split(data)
    assert parts.kind == "by time"
    assert set(time[parts.train]) == set(range(12))
    assert set(time[parts.validation]) == {12, 13, 14, 15}
    assert set(time[parts.test]) == {16, 17, 18, 19}


def test_by_time_with_groups_a_group_stands_where_it_begins():
    groups = np.repeat(np.arange(10), 6)
    data = table(np.arange(60) % 2, groups, time=groups * 10 + np.arange(60) % 6 * 15)
    parts = split(data)
    assert set(groups[parts.train]) == set(range(6))
    assert set(groups[parts.test]) == {8, 9}


def test_too_few_positives_for_three_parts():
    with pytest.raises(DataError, match="the validation part has 1 positives and 19 negatives, at"):
        split(table(rare(100, 5)))


@pytest.mark.parametrize("shares", [(0, 0.2), (0.5, 0.5), (0.2, -1)])
def test_shares_must_leave_something(shares):
    with pytest.raises(ValueError, match="leave a part to train on"):
        split(table(rare(100, 50)), validation=shares[0], test=shares[1])


def test_folds_judge_every_row_once_and_keep_groups_whole():
    rng = np.random.default_rng(1)
    groups = rng.integers(40, size=300)
    for data in (table(rare(300, 60)), table(rng.random(300) < 0.4, groups)):
        rows = split(data).development
        pairs = folds(data, rows, seed=3)
        assert len(pairs) == 5
        assert sorted(np.concatenate([judged for _, judged in pairs])) == rows.tolist()
        for fitted, judged in pairs:
            assert sorted([*fitted, *judged]) == rows.tolist()
            if data.groups is not None:
                assert not set(groups[fitted]) & set(groups[judged])
            else:
                assert abs(data.target[judged].sum() - 48 / 5) < 1


def test_folds_need_positives_in_each():
    with pytest.raises(DataError, match="fold 1 part has 1 positives"):
        folds(table(rare(50, 5)), np.arange(50))


def test_few_counts_positives_or_lists_with_one():
    assert count_positives(table(rare(1000, 99)), np.arange(1000)) == 99
    assert count_positives(table(rare(1000, 100)), np.arange(1000)) == FEW
    groups = np.arange(1000) % 99
    assert count_positives(table(rare(1000, 500), groups), np.arange(1000)) == 99
    groups = np.arange(1000) % 100
    assert count_positives(table(rare(1000, 500), groups), np.arange(1000)) == FEW


def several(counts):
    target = np.repeat(np.arange(len(counts)), counts).astype(float)
    made = Table(Path("t.csv"), target[:, None], ("x",), ("numeric",), target)
    return replace(made, classes=tuple("abc"[: len(counts)]))


def test_every_part_has_the_shares_of_several_classes():
    here = several([60, 30, 10])
    parts = split(here, seed=3)
    for rows, share in ((parts.train, 0.6), (parts.validation, 0.2), (parts.test, 0.2)):
        wanted = {"a": 60 * share, "b": 30 * share, "c": 10 * share}
        assert here.class_counts(rows) == pytest.approx(wanted)
    with pytest.raises(DataError, match=r"part has 0 rows of the class 'c'.*has 3 in 93 rows"):
        split(several([60, 30, 3]))


def test_the_sample_size_of_a_mean_over_classes():
    here = several([60, 30, 10])
    every = np.arange(100)
    assert count_positives(here, every) == int(9 / (1 / 60 + 1 / 30 + 1 / 10))
    assert count_positives(several([40, 40]), np.arange(80)) == 80
    assert (rarest_count(here, every), count_positives(here, every[:60])) == (10, 0)
