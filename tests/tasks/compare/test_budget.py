from __future__ import annotations

import json
import time

import numpy as np
import pytest
from tests.tasks.compare.stubs import StubRanker, problem, stubbed, table

from rankwise.tasks.compare import budget as module
from rankwise.tasks.compare.budget import TIMING, Cost, measure, open_budget
from rankwise.tasks.compare.candidates import Candidate

__all__ = ["stubbed"]

PLAIN, METRIC = Candidate("linear", "log_loss"), Candidate("linear", "ap")
pytestmark = pytest.mark.usefixtures("stubbed")


def opened(tmp_path, monkeypatch, costs, **options):
    """A budget for fits that take so many seconds, whatever their rows."""
    monkeypatch.setattr(module, "measure", lambda each, *_: Cost(costs[each.key], 0.0, 0.0))
    monkeypatch.setattr(module, "_timed", lambda *_: (500, 0.0, 0.0))
    here = problem(tmp_path, **options)
    trained = [each for each in (PLAIN, METRIC) if each.key in costs]
    return open_budget(tmp_path, here, trained), here


def test_with_enough_time_nothing_is_announced_and_folds_are_kept(tmp_path, monkeypatch):
    costs = {PLAIN.key: 0.1, METRIC.key: 0.2}
    found, _ = opened(tmp_path, monkeypatch, costs, budget=100.0)
    assert (found.one_part, found.left_out, found.announced) == (False, {}, [])


def test_folds_give_way_before_candidates_do(tmp_path, monkeypatch):
    # Of both with folds: 6 × 2 s and 6 × 4 s; with one part 4 s and 8 s.
    costs = {PLAIN.key: 2.0, METRIC.key: 4.0}
    found, _ = opened(tmp_path, monkeypatch, costs, budget=20.0)
    assert found.one_part
    assert dict(found.left_out) == {}
    (said,) = found.announced
    assert said.startswith("--budget 20s is too short for 5-fold cross-validation")
    assert "pass --budget 73s for folds" in said  # twice 6 × (2 + 4), rounded up


def test_shares_are_the_shortest_trial_and_equal_parts_of_the_rest(tmp_path, monkeypatch):
    costs = {PLAIN.key: 1.0, METRIC.key: 2.0}
    found, here = opened(tmp_path, monkeypatch, costs, budget=100.0)
    first = found.share("a", here, [PLAIN, METRIC])
    assert first == pytest.approx(6.0 + (90 - 18) / 2, abs=0.1)
    found.spend("a", 10.0)  # less than its share: the rest is the next one's
    assert found.share("b", here, [METRIC]) == pytest.approx(80.0, abs=0.1)
    found.spend("b", 80.0)
    again = open_budget(tmp_path, here, [PLAIN, METRIC])
    assert again.share("a", here, [PLAIN, METRIC]) == first


def test_another_budget_decides_upon_candidates_again_but_not_upon_splits(tmp_path, monkeypatch):
    costs = {PLAIN.key: 2.0, METRIC.key: 4.0}
    found, _ = opened(tmp_path, monkeypatch, costs, budget=5.0)
    assert list(found.left_out) == [METRIC.name]
    found, _ = opened(tmp_path, monkeypatch, costs, budget=1000.0)
    assert dict(found.left_out) == {}
    assert found.one_part
    assert json.loads((tmp_path / TIMING).read_text())["budget"] == 1000.0


def test_the_second_fit_of_a_control_is_never_the_log_loss_that_is_kept(tmp_path, monkeypatch):
    second = Candidate("linear", "log_loss", second=True)
    costs = {PLAIN.key: 4.0, second.key: 2.0}
    monkeypatch.setattr(module, "measure", lambda each, *_: Cost(costs[each.key], 0.0, 0.0))
    monkeypatch.setattr(module, "_timed", lambda *_: (500, 0.0, 0.0))
    found = open_budget(tmp_path, problem(tmp_path, budget=1.0), [PLAIN, second])
    assert list(found.left_out) == [second.name]


def test_a_damaged_record_is_measured_again(tmp_path, monkeypatch):
    (tmp_path / TIMING).write_text("{")
    found, _ = opened(tmp_path, monkeypatch, {PLAIN.key: 1.0}, budget=100.0)
    assert found.costs[PLAIN.key].fixed >= 1.0


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
    monkeypatch.setattr("rankwise.tasks.compare.budget._SIZES", (60,))
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


def test_a_large_fit_shows_what_a_small_one_hides(tmp_path, monkeypatch):
    def timed(candidate, problem, size):
        return size, 0.1 + 1e-6 * size, 0.0

    monkeypatch.setattr(module, "_timed", timed)
    here, rows = problem(tmp_path), 8_000_000
    assert measure(PLAIN, here, 30.0).fit(rows) == pytest.approx(0.1 + 1e-6 * rows)
    # Without the time for the largest fit half of the seconds a row with 32 000 rows count.
    short = 0.5 * (0.1 + 1e-6 * 32_000) / 32_000
    assert measure(PLAIN, here, 1.0).fit(rows) == pytest.approx(short * rows, rel=0.01)


def test_threads_make_a_fit_as_short_as_the_clock_says(tmp_path, monkeypatch):
    real, now = StubRanker._fit_scores, [0.0]

    def work(self, data):
        real(self, data)
        now[0] += 1e-3 * len(data.train.target)

    monkeypatch.setattr(StubRanker, "_fit_scores", work)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    table(rows=8000).write_csv(tmp_path / "table.csv")
    here = problem(tmp_path)
    for threads, faster in ((1, 1), (4, 1), (0.5, 0.5)):  # 0.5: the machine has other work
        monkeypatch.setattr(time, "process_time", lambda threads=threads: threads * now[0])
        found = measure(PLAIN, here, 1e6)
        assert found.per_row == pytest.approx(faster * 0.8e-3, rel=0.1)
