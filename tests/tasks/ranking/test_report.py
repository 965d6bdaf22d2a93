"""Tests of the results of a run."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from tests.tasks.ranking.cases import written

from rankwise.data.letor import read_letor
from rankwise.tasks.ranking import Settings, evaluate_lists, results_table, run
from rankwise.tasks.ranking.baseline import SingleFeature
from rankwise.tasks.ranking.evaluate import QueryMetric, notes_of
from rankwise.tasks.ranking.report import compared_with_feature

SETTINGS = Settings(objective="ndcg@3", model="linear", metric="ndcg@3")


@pytest.mark.parametrize(("sign", "word"), [(1, "better"), (-1, "worse")])
def test_scores_are_compared_with_the_best_feature(tmp_path, sign, word):
    lists = read_letor(written(tmp_path / "test.txt"))
    ranker = SimpleNamespace(learning_rate=0.5)
    feature = SingleFeature(1, descending=True)
    alone, results = (
        evaluate_lists(scores, lists, [SETTINGS.metric])
        for scores in (feature.scores(lists), sign * lists.target)
    )
    found = compared_with_feature(SETTINGS, ranker, "test", results, feature=feature, alone=alone)
    assert found.text.startswith(f"{word} than the best single feature: test ndcg@3 is ")
    assert " for feature 1, largest first (difference" in found.text
    tries = "; ".join(found.advice)
    assert tries == "" if sign == 1 else "learning_rate=0.05" in tries
    assert "chance" not in found.text


def test_the_verdict_of_a_run_is_on_its_report(tmp_path):
    train = read_letor(written(tmp_path / "train.txt"))
    done = run(SETTINGS, tmp_path / "run", train, train, metrics=["ap"])
    better = "the best single feature: validation ndcg@3 is 0."
    assert better in done.verdict.text
    html = done.report.read_text()
    assert done.verdict.text[1:] in html
    won, lost = re.search(
        r"Of 24 validation queries, the model ranks (\d+) better than the best single feature "
        r"does and (\d+) worse",
        html,
    ).groups()
    assert f"{won} won, {lost} lost, {24 - int(won) - int(lost)} equal" in html
    assert "feature 2, largest first" in html
    assert "random order" in html
    assert "--test" not in done.verdict.text
    alone = run(SETTINGS, tmp_path / "alone", train, metrics=["ap"])
    assert alone.verdict.text.endswith("the training queries, pass --test to evaluate on others")


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
