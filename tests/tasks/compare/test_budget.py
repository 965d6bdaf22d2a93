from __future__ import annotations

import json

import pytest
from tests.tasks.compare.stubs import problem, stubbed

from rankwise.tasks.compare import budget as module
from rankwise.tasks.compare.budget import TIMING, open_budget
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.costs import Cost

__all__ = ["stubbed"]

PLAIN, METRIC = Candidate("linear", "log_loss"), Candidate("linear", "ap")
pytestmark = pytest.mark.usefixtures("stubbed")


def opened(tmp_path, monkeypatch, costs, **options):
    """A budget for fits that take so many seconds, whatever their rows."""
    monkeypatch.setattr(module, "measure", lambda each, *_: Cost(costs[each.key], 0.0, 0.0))
    monkeypatch.setattr(module, "warm_up", lambda *_: None)
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


def test_a_damaged_record_is_measured_again(tmp_path, monkeypatch):
    (tmp_path / TIMING).write_text("{")
    found, _ = opened(tmp_path, monkeypatch, {PLAIN.key: 1.0}, budget=100.0)
    assert found.costs[PLAIN.key].fixed >= 1.0
