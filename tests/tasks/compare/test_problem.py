from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from tests.tasks.compare.stubs import problem, settings, table

from rankwise.data import DataError, Table
from rankwise.tasks.compare.problem import plan_for, read_problem

LISTS = {"group": "user", "drop": ("day",)}


def scores(here, seed=0):
    return np.random.default_rng(seed).normal(size=len(here.table)) + here.table.target


def test_the_metric_is_that_of_the_rows_asked_for(tmp_path):
    here = problem(tmp_path)
    assert here.metric == "ap"
    rows = here.plan.parts.test
    given, target = scores(here)[rows], here.table.target[rows]
    assert here.value(given, rows) == pytest.approx(average_precision_score(target, given))
    assert here.value(given, rows, "auc") == pytest.approx(roc_auc_score(target, given))
    assert here.value(given, rows) != here.value(given, here.plan.parts.train[: len(rows)])
    found = here.estimate(given, rows)
    assert found.mean == pytest.approx(here.value(given, rows))
    assert found.low < found.mean < found.high


def test_with_lists_it_is_the_mean_over_those_that_have_both_classes(tmp_path):
    here = problem(tmp_path, metric="ap", **LISTS)
    rows = here.plan.parts.test
    given, target, groups = scores(here)[rows], here.table.target[rows], here.truth(rows).groups
    known = table()["user"].to_numpy()[rows]
    each = []
    for user in np.unique(known):
        own = known == user
        assert len(np.unique(groups[own])) == 1  # the groups are the users, by number
        if 0 < target[own].sum() < own.sum():
            each.append(average_precision_score(target[own], given[own]))
    assert len(each) > 3
    assert here.value(given, rows) == pytest.approx(np.mean(each))
    assert problem(tmp_path).truth(rows).groups is None


def test_no_list_is_in_two_parts(tmp_path):
    parts = problem(tmp_path, **LISTS).plan.parts
    known = table()["user"].to_numpy()
    users = [set(known[rows]) for rows in (parts.train, parts.validation, parts.test)]
    assert all(users)
    assert not users[0] & users[1]
    assert not users[0] & users[2]
    assert not users[1] & users[2]


def test_fits_that_are_averaged_have_seeds_of_their_own(tmp_path):
    assert list(problem(tmp_path, seed=7, seeds=3).seeds) == [7, 8, 9]
    assert list(problem(tmp_path).seeds) == [0]


def test_the_seed_decides_the_parts(tmp_path):
    tests = [set(problem(tmp_path, seed=seed).plan.parts.test.tolist()) for seed in (1, 1, 2)]
    assert tests[0] == tests[1] != tests[2]


def test_a_difference_has_a_sign_and_none_is_none(tmp_path):
    here = problem(tmp_path, metric="auc")
    rows = here.plan.parts.test
    one, other = scores(here)[rows], scores(here, seed=1)[rows]
    found, back = here.difference(one, other, rows), here.difference(other, one, rows)
    target = here.table.target[rows]
    expected = roc_auc_score(target, one) - roc_auc_score(target, other)
    assert found.mean == pytest.approx(expected)
    assert back.mean == pytest.approx(-expected)
    assert back.p == pytest.approx(found.p)
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))
    assert here.difference(one, one, rows).mean == 0


def test_a_bootstrap_is_drawn_by_the_seed_that_was_asked_for(tmp_path):
    same, again, other = (problem(tmp_path, metric="precision@10", seed=s) for s in (3, 3, 4))
    rows = same.plan.parts.test
    given, others = scores(same)[rows], scores(same, seed=1)[rows]
    assert same.estimate(given, rows) == again.estimate(given, rows)
    assert same.difference(given, others, rows) == again.difference(given, others, rows)
    compared = [each.difference(given, others, rows) for each in (same, other)]
    assert compared[0].mean == compared[1].mean
    assert compared[0] != compared[1]


def test_what_is_asked_decides_what_is_read(tmp_path):
    here = problem(tmp_path, drop=("user", "day", "c"))
    assert dict(zip(here.table.names, here.table.kinds, strict=True)) == {
        "a": "numeric",
        "b": "numeric",
        "word": "categorical",
    }
    assert not here.table.graded
    assert problem(tmp_path, metric="ndcg@5", **LISTS).table.names == ("a", "b", "c", "word")
    assert {each.name for each in tmp_path.iterdir()} == {"table.csv"}  # nothing is written


def test_relevances_are_for_metrics_that_take_them(tmp_path):
    frame = table().with_columns(y=np.arange(600) % 3)
    frame.write_csv(tmp_path / "table.csv")
    here = problem(tmp_path, metric="ndcg@5", **LISTS)
    assert here.table.graded
    assert set(here.table.target) == {0, 1, 2}
    assert problem(tmp_path).table.classes == ("0", "1", "2")  # without lists they are classes


def test_a_table_of_a_target_alone_is_named(tmp_path):
    asked = settings(tmp_path, drop=("user", "day", "a", "b", "c", "word"))
    with pytest.raises(DataError, match=r"table\.csv: has no column left to learn from"):
        read_problem(asked)


def made_table(rows, positives, **options):
    target = (np.arange(rows) < positives).astype(float)
    return Table(
        Path("a"), pl.DataFrame({"x": target}), ("x",), ("numeric",), target, "1", **options
    )


def test_many_positives_are_chosen_by_one_part():
    plan = plan_for(made_table(2000, 600), 0)
    assert not plan.cross_validated
    fitted, folds = plan.splits[0]
    assert fitted is plan.parts.train
    assert folds is plan.parts.validation
    assert plan.describe(1) == "one validation part (stratified split)"


def test_few_by_folds_twice_without_the_test_part():
    plan = plan_for(made_table(2000, 400), 0)
    assert (len(plan.splits), plan.tuned) == (10, 5)
    for fitted, folds in plan.splits:
        assert sorted([*fitted, *folds]) == plan.parts.development.tolist()
    once, again = plan.splits[0][1], plan.splits[5][1]
    assert once.tolist() != again.tolist()
    assert plan.as_json()["choice"] == "5-fold cross-validation × 2 (stratified split)"
    assert plan.describe(5) == "5-fold cross-validation (stratified split)"


@pytest.mark.parametrize(("positives", "folds"), [(10, 4), (20, 5)])
def test_very_few_in_fewer_folds(positives, folds):
    assert plan_for(made_table(300, positives), 0).tuned == folds


def test_lists_are_counted_where_there_are_lists():
    groups = np.arange(3000) % 600
    assert not plan_for(made_table(3000, 2000, groups=groups), 0).cross_validated
    assert plan_for(made_table(3000, 2000, groups=groups % 300), 0).cross_validated


def test_the_future_is_never_learned_from():
    rows = np.random.default_rng(0).permutation(500)
    data = made_table(500, 50, time=rows.astype(float))
    plan = plan_for(data, 0)
    assert not plan.cross_validated
    fitted, folds = plan.splits[0]
    assert rows[fitted].max() < rows[folds].min()
    assert rows[folds].max() < rows[plan.parts.test].min()
