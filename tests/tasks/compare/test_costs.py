from __future__ import annotations

import time

import numpy as np
import pytest
from tests.tasks.compare.stubs import StubRanker, problem, stubbed, table

from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.costs import Cost, measure

__all__ = ["stubbed"]

PLAIN = Candidate("linear", "log_loss")
pytestmark = pytest.mark.usefixtures("stubbed")


def test_a_trial_is_a_fit_for_every_tuned_split_and_one_on_all_rows(tmp_path):
    plan = problem(tmp_path).plan
    assert plan.tuned == 5
    cost = Cost(fixed=2.0, per_row=0.01, per_scored_row=0.001)
    folds = 5 * 2.0 + 0.01 * sum(len(a) for a, _ in plan.splits[:5]) + 0.001 * 480
    last = 2.0 + 0.01 * 480 + 0.001 * 120
    assert cost.trial(plan) == pytest.approx(folds + last)
    assert cost.trial(plan, seeds=3) == pytest.approx(folds + 3 * folds + 3 * last)
    one = 2.0 + 0.01 * 360 + 0.001 * 120
    assert cost.trial(plan.single_split()) == pytest.approx(one + last)


def test_what_grows_with_the_rows_is_told_from_what_does_not(tmp_path, monkeypatch):
    real = StubRanker._fit_scores

    def work(self, data):
        real(self, data)
        ends = time.process_time() + 0.1 + 1e-4 * len(data.train.target)
        while time.process_time() < ends:
            pass

    monkeypatch.setattr(StubRanker, "_fit_scores", work)
    table(rows=8000).write_csv(tmp_path / "table.csv")
    here = problem(tmp_path)
    found = measure(PLAIN, here, 30.0)
    # A fifth of the rows is held out by the ranker; the rest of a fit is fast.
    assert found.fit(6400) == pytest.approx(0.1 + 0.8 * 6400e-4, rel=0.5)
    assert found.fit(6400) < 0.4 * 6400 / 500 * found.fit(500)


def test_pilots_have_both_classes_and_whole_lists(tmp_path, monkeypatch):
    seen = []
    real = StubRanker.fit

    def watched(self, X, y, groups=None, **options):
        seen.append((y, groups))
        return real(self, X, y, groups=groups, **options)

    monkeypatch.setattr(StubRanker, "fit", watched)
    monkeypatch.setattr("rankwise.tasks.compare.costs._SIZES", (60,))
    measure(PLAIN, problem(tmp_path), 1.0)
    y, groups = seen.pop()
    assert len(y) < 80
    assert 8 <= (y > 0).sum() < 20
    here = problem(tmp_path, group="user", drop=("day",), metric="ndcg@5")
    measure(PLAIN, here, 1.0)
    _, groups = seen.pop()
    sizes = np.bincount(here.table.groups)
    for each, size in zip(*np.unique(groups, return_counts=True), strict=True):
        assert size == sizes[each]


def test_a_candidate_that_fails_costs_nothing_yet(tmp_path, monkeypatch):
    monkeypatch.setattr(StubRanker, "_fit_scores", lambda self, data: 1 / 0)
    assert measure(PLAIN, problem(tmp_path), 1.0) == Cost(0.0, 0.0, 0.0)
