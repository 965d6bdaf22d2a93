"""The printed numbers beside ours: found by the names of sets and methods, and shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reproductions.longtail.generated import tiny_plan
from tests.reproductions.longtail.test_tables import cells

from reproductions.longtail.methods import METHODS, OURS
from reproductions.longtail.problems import CIFAR_10, CIFAR_100, FASHION, RARE
from reproductions.longtail.published import PUBLISHED
from reproductions.longtail.tables import main_table


def table_of(*data_sets):
    """The main table of a plan with these sets, every one with the same numbers."""
    plan = tiny_plan()
    problems = tuple(replace(p, data_set=name) for name in data_sets for p in plan.problems)
    own = [replace(cell, data_set=name) for name in data_sets for cell in cells()]
    return main_table(own, replace(plan, problems=problems))


def test_sets_of_the_study_that_the_paper_has_are_looked_up_by_name():
    assert {CIFAR_10, CIFAR_100} <= set(PUBLISHED)
    assert not {FASHION, RARE} & set(PUBLISHED)


def test_every_method_but_one_of_ours_is_printed_for_every_set():
    for rows in PUBLISHED.values():
        assert [m.name for m in METHODS if m.name not in rows] == ["SOPRC"]
        assert all(name in {m.name for m in METHODS} for name in rows)


@pytest.mark.parametrize("data_set", PUBLISHED)
def test_a_value_is_per_cent_with_a_smaller_deviation(data_set):
    for mean, deviation in PUBLISHED[data_set].values():
        assert 1 < mean < 100  # no share
        assert 0 < deviation < mean / 10
    best = max(PUBLISHED[data_set], key=lambda name: PUBLISHED[data_set][name][0])
    assert best in OURS  # as the paper says of itself


def test_each_of_our_sets_stands_beside_the_printed_one():
    table = table_of(CIFAR_100, FASHION, CIFAR_10)
    assert list(table.header[-2:]) == [f"paper, {CIFAR_10}", f"paper, {CIFAR_100}"]
    for row in table.rows:
        for place, data_set in ((-2, CIFAR_10), (-1, CIFAR_100)):
            if row[0] == "SOPRC":
                assert row[place] == "–"
            else:
                mean, deviation = map(float, row[place].split(" ± "))
                assert (mean, deviation) == PUBLISHED[data_set][row[0]]


def test_sets_that_the_paper_does_not_have_stand_beside_one_that_it_has():
    table = table_of(FASHION)
    assert list(table.header) == ["method", FASHION, "last step", f"paper, {CIFAR_10}"]
