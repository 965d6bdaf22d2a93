"""Tests of the paired comparison of two runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.tasks.ranking.cases import random_files

from rankwise.data.letor import read_qrels, read_run
from rankwise.metrics import compare_lists
from rankwise.tasks.ranking import compare_runs, comparison_table, judged_run


@pytest.fixture
def files(tmp_path):
    first, qrels = random_files(tmp_path, 0, False)
    run = read_run(first)
    other = {
        query: {
            d: s + (0.7 if read_qrels(qrels)[query].get(d, 0) > 0 else 0) for d, s in own.items()
        }
        for query, own in run.items()
    }
    del other["q7"]
    return run, other, read_qrels(qrels)


def test_the_values_are_those_of_evaluation_and_missing_queries_count_0(files):
    run, other, qrels = files
    names = ["ndcg@10", "ap", "P_5"]
    found = compare_runs(run, other, qrels, names)
    assert list(found) == ["ndcg@10", "ap", "precision@5"]
    a, b = (judged_run(each, qrels, names) for each in (run, other))
    for name, each in found.items():
        assert each.found.value_a == pytest.approx(a[name].mean)
        assert each.found.value_b == pytest.approx(b[name].mean)
        assert each.found == compare_lists(a[name].values, b[name].values)
        assert each.queries == a[name].plain["queries"] == 30
        assert each.wins_a == (a[name].values > b[name].values + 1e-12).sum() >= 1  # q7
        assert each.wins_a + each.wins_b + each.equal == 30
    assert found["ap"].found.p_value < 0.01  # the other run has the relevant documents higher
    assert found["ap"].found.high < 0
    back = compare_runs(other, run, qrels, ["ap"])["ap"]
    assert back.found.difference == pytest.approx(-found["ap"].found.difference)
    assert (back.wins_a, back.wins_b) == (found["ap"].wins_b, found["ap"].wins_a)


def test_a_run_does_not_differ_from_itself(files):
    run, _, qrels = files
    each = compare_runs(run, run, qrels, ["ap"])["ap"]
    assert (each.found.difference, each.found.p_value, each.equal) == (0, 1, each.queries)


def test_one_query_decides_nothing():
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 0}}
    each = compare_runs({"q": {"a": 1.0}}, {"q": {"b": 1.0}}, qrels, ["mrr"])["mrr"]
    assert (each.found.difference, each.found.p_value, each.queries) == (1, 1, 1)
    assert math.isnan(each.found.low)
    assert each.plain["low"] is None
    (row,) = comparison_table({"mrr": each}, "x", "y").rows
    assert row == ("mrr", "1.0000", "0.0000", "+1.0000", "–", "1.000", "1/0/0")


def test_the_table_says_how_it_was_made(files):
    run, other, qrels = files
    table = comparison_table(compare_runs(run, other, qrels, ["ap"]), "old.txt", "new.txt")
    assert table.header[:4] == ("metric", "A", "B", "A − B")
    for words in ("A is old.txt, B is new.txt", "30 queries with a relevant document", "bootstrap",
                  "randomization test"):  # fmt: skip
        assert words in table.caption
    assert np.sum([int(n) for n in table.rows[0][-1].split("/")]) == 30
