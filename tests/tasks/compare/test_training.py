from __future__ import annotations

import time

import pytest
from tests.tasks.compare.stubs import StubRanker, problem, stubbed

from rankwise.estimators.limits import time_is_up
from rankwise.tasks.compare.budget import Cost
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import evaluate_split
from rankwise.tasks.compare.training import finish
from rankwise.tasks.compare.tuning import Tuned

__all__ = ["stubbed"]

PLAIN = Candidate("linear", "log_loss")
FREE = Cost(0.0, 0.0, 0.0)
pytestmark = pytest.mark.usefixtures("stubbed")


def tuned(here, seconds, per_fit):
    folds = tuple(
        evaluate_split(PLAIN, {}, here, split, here.seeds)
        for split in here.plan.splits[: here.plan.tuned]
    )
    return Tuned({}, folds, 1, seconds, per_fit, [])


def test_further_splits_are_judged_only_where_there_is_time_for_them(tmp_path):
    here = problem(tmp_path)
    with_time = finish(PLAIN, here, tuned(here, 1.0, 0.01), 100.0, FREE)
    without = finish(PLAIN, here, tuned(here, 1.0, 0.01), 1.01, FREE)
    assert (len(with_time.folds), len(without.folds)) == (10, 5)
    assert not with_time.cut


def test_the_last_fit_has_as_long_as_those_it_was_chosen_by_even_where_the_time_is_up(
    tmp_path, monkeypatch
):
    here = problem(tmp_path)
    known, steps = tuned(here, 1.0, 0.2), []
    real = StubRanker._fit_scores

    def slow(self, data):
        real(self, data)
        began = time.perf_counter()
        while not time_is_up():
            time.sleep(0.01)
        steps.append(time.perf_counter() - began)

    monkeypatch.setattr(StubRanker, "_fit_scores", slow)
    found = finish(PLAIN, here, known, 0.5, FREE)
    assert found.cut
    (taken,) = steps
    assert taken > 0.15
