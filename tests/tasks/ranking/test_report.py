"""Tests of the results of a run."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.tasks.ranking.cases import written

from rankwise.data.letor import read_letor
from rankwise.tasks.ranking import Settings, evaluate_lists, results_table, run
from rankwise.tasks.ranking.evaluate import QueryMetric, notes_of
from rankwise.tasks.ranking.report import compared_with_start

SETTINGS = Settings(objective="ndcg@3", model="linear", metric="ndcg@3")


@pytest.mark.parametrize(("sign", "word"), [(1, "better"), (-1, "worse")])
def test_scores_are_compared_with_tied_documents(tmp_path, sign, word):
    lists = read_letor(written(tmp_path / "test.txt"))
    ranker = SimpleNamespace(learning_rate=0.5)
    start, results = (
        evaluate_lists(scores, lists, [SETTINGS.metric])
        for scores in (np.zeros(len(lists)), sign * lists.target)
    )
    found = compared_with_start(SETTINGS, ranker, "test", start, results)
    assert found.text.startswith(f"{word} than the start: test ndcg@3 went from 0.")
    tries = "; ".join(found.advice)
    assert tries == "" if sign == 1 else "learning_rate=0.05" in tries
    assert "chance" not in found.text


def test_the_verdict_of_a_run_is_on_its_report(tmp_path):
    train = read_letor(written(tmp_path / "train.txt"))
    done = run(SETTINGS, tmp_path / "run", train, train, metrics=["ap"])
    assert done.verdict.text.startswith("better than the start: validation ndcg@3 went from")
    html = done.report.read_text()
    assert done.verdict.text[1:] in html
    assert (
        "Of 24 validation queries, 24 are ranked better than in random order and 0 worse." in html
    )
    assert "24 won, 0 lost, 0 equal" in html


RESULTS = {
    "train": {
        "ap": QueryMetric("ap", np.array([0.5, 1.0])),
        "mrr": QueryMetric("mrr", np.array([1.0, 1.0])),
    },
    "test": {
        "ap": QueryMetric("ap", np.array([0.25, np.nan])),
        "mrr": QueryMetric("mrr", np.ones(2)),
    },
}


def test_metrics_by_part():
    table = results_table(RESULTS)
    assert table.header == ("metric", "train", "test")
    assert table.rows[0] == ("ap", "0.7500 ± 0.4900", "0.2500")
    assert "Means over the queries with a relevant document" in table.caption
    assert "2 of train and 2 of test" in table.caption


def test_what_is_left_out_is_said():
    assert notes_of(RESULTS) == ["test: 1 query without a relevant document is left out of ap."]
    lost = np.array([np.nan, np.nan, 1.0])
    both = {"ap": QueryMetric("ap", lost), "auc": QueryMetric("auc", lost, pairs=True)}
    assert notes_of({"test": both}) == [
        "test: 2 queries without a relevant document are left out of ap.",
        "test: 2 queries without a relevant document or without any other are left out of auc.",
    ]
