from __future__ import annotations

import math

import numpy as np
import pytest
from tests.tasks.compare.stubs import problem

from rankwise.metrics import logit_interval
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.choosing import choose, on_common_splits, validation_of
from rankwise.tasks.compare.finished import Finished
from rankwise.tasks.compare.fit import Judged

NOTHING = np.zeros(0)


def done(objective, *values, model="linear", scores=NOTHING):
    judged = tuple(Judged(scores, scores, value) for value in values)
    candidate = Candidate(model, objective)
    return Finished(candidate, {}, 1, 1.0, [], judged, NOTHING, NOTHING, NOTHING, None)


def test_the_metric_is_recommended_where_it_wins():
    rows = [done("log_loss", 0.5, 0.7), done("ap", 0.6, 0.7), done("log_loss + ap", 0.6, 0.6)]
    found = choose(rows, "ap")
    assert (found.recommended, found.baseline) == (1, 0)
    assert found.why == (
        "linear, ap (0.6500) has the best ap on validation; "
        "the best log-loss model is linear, log-loss (0.6000)."
    )


@pytest.mark.parametrize("other", [0.4, 0.5])
def test_log_loss_where_it_wins_or_ties(other):
    rows = [done("log_loss", 0.3), done("ap", other), done("log_loss", 0.5, model="boosted")]
    found = choose(rows, "ap")
    assert (found.recommended, found.baseline) == (2, 2)
    assert found.why.startswith("Log-loss won: boosted, log-loss (0.5000) has the best ap")
    assert f"the nearest is linear, ap ({other:.4f})" in found.why


def test_log_loss_alone():
    assert "is the only candidate" in choose([done("log_loss", 0.5)], "ap").why
    both = [done("log_loss", 0.5), done("log_loss", 0.6, model="neural")]
    assert choose(both, "ap").recommended == 1


def test_the_interval_over_folds_is_widened_by_what_they_share(tmp_path):
    values = [0.5, 0.7, 0.6, 0.6, 0.7, 0.5, 0.6, 0.6, 0.6, 0.6]
    here = problem(tmp_path)
    assert here.plan.crosses
    found = validation_of(done("ap", *values), here)
    # Student's quantile of nine degrees of freedom; a fold is a quarter of what is fitted on.
    variance = sum((value - 0.6) ** 2 for value in values) / 9
    reach = 2.2621571628 * math.sqrt(variance * (1 / 10 + 1 / 4))
    assert found.mean == pytest.approx(0.6)
    assert found.high - found.mean == pytest.approx(reach, rel=0.01)
    assert found.mean - found.low == pytest.approx(reach, rel=0.01)


def test_the_interval_of_one_part_is_that_of_the_metric(tmp_path):
    here = problem(tmp_path, time="day", drop=("user",))
    rows = here.plan.parts.validation
    scores = np.random.default_rng(0).normal(size=len(rows))
    found = validation_of(done("ap", here.value(scores, rows), scores=scores), here)
    expected = logit_interval(scores, here.table.target[rows])
    assert (found.mean, found.low, found.high) == (expected.value, expected.low, expected.high)


def test_all_are_compared_on_the_same_splits():
    rows = [done("log_loss", 0.5, 0.9), done("ap", 0.6)]
    assert [each.values for each in on_common_splits(rows)] == [[0.5], [0.6]]
    assert on_common_splits([]) == []
