from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rankwise.data import Table
from rankwise.tasks.compare.plan import plan_for


def table(rows, positives, **options):
    target = (np.arange(rows) < positives).astype(float)
    return Table(
        Path("a"), pl.DataFrame({"x": target}), ("x",), ("numeric",), target, "1", **options
    )


def test_many_positives_are_chosen_by_one_part():
    plan = plan_for(table(2000, 600), 0)
    assert not plan.crosses
    fitted, judged = plan.splits[0]
    assert fitted is plan.parts.train
    assert judged is plan.parts.validation
    assert plan.words(1) == "one validation part (stratified split)"


def test_few_by_folds_twice_without_the_test_part():
    plan = plan_for(table(2000, 400), 0)
    assert (len(plan.splits), plan.tuned) == (10, 5)
    for fitted, judged in plan.splits:
        assert sorted([*fitted, *judged]) == plan.parts.development.tolist()
    once, again = plan.splits[0][1], plan.splits[5][1]
    assert once.tolist() != again.tolist()
    assert plan.as_json()["choice"] == "5-fold cross-validation × 2 (stratified split)"
    assert plan.words(5) == "5-fold cross-validation (stratified split)"


@pytest.mark.parametrize(("positives", "folds"), [(10, 4), (20, 5)])
def test_very_few_in_fewer_folds(positives, folds):
    assert plan_for(table(300, positives), 0).tuned == folds


def test_lists_are_counted_where_there_are_lists():
    groups = np.arange(3000) % 600
    assert not plan_for(table(3000, 2000, groups=groups), 0).crosses
    assert plan_for(table(3000, 2000, groups=groups % 300), 0).crosses


def test_the_future_is_never_learned_from():
    rows = np.random.default_rng(0).permutation(500)
    data = table(500, 50, time=rows.astype(float))
    plan = plan_for(data, 0)
    assert not plan.crosses
    fitted, judged = plan.splits[0]
    assert rows[fitted].max() < rows[judged].min()
    assert rows[judged].max() < rows[plan.parts.test].min()
