from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from tests.tasks.compare.stubs import problem, table
from tests.tasks.compare.test_results import done

from rankwise.tasks.compare.candidates import CONTROL, Candidate
from rankwise.tasks.compare.control import controlled
from rankwise.tasks.compare.results import Outcome
from rankwise.tasks.compare.selection import Choice, Evaluation

PLAIN, METRIC, BOTH, TWO = range(4)


@pytest.fixture
def many(tmp_path):
    table(rows=3000).write_csv(tmp_path / "table.csv")
    return problem(tmp_path)


def four(here, *, metric=0.0, both=0.0, two=0.0):
    """All candidates of a kind; positives score higher by this much than with log-loss."""
    base, target = done(here, "log_loss", 1), here.table.target[here.plan.parts.test]
    names = {
        METRIC: Candidate("linear", "ap"),
        BOTH: Candidate("linear", "log_loss + ap", ("a", "b")),
        TWO: Candidate("linear", CONTROL, ("a", "c")),
    }
    noise = np.random.default_rng(7).normal(scale=0.3, size=(3, len(target)))
    others = [
        replace(base, candidate=each, test=base.test + by * target + part)
        for each, by, part in zip(names.values(), (metric, both, two), noise, strict=True)
    ]
    return [base, *others]


def outcome(here, fitted, recommended):
    return Outcome(here, fitted, Choice(recommended, PLAIN, ""), Evaluation([(here, fitted)]))


def last_sentence(here, fitted, recommended):
    return outcome(here, fitted, recommended).verdict.split("log-loss. ", 1)[1]


def test_the_difference_is_paired_on_the_tested_rows(many):
    fitted = four(many, both=1.0, two=0.4)
    (pair,) = outcome(many, fitted, BOTH).controls
    target = many.table.target[many.plan.parts.test]
    values = [average_precision_score(target, fitted[n].test) for n in (BOTH, TWO)]
    assert (pair.model, pair.candidate, pair.control) == ("linear", BOTH, TWO)
    assert pair.difference.mean == pytest.approx(values[0] - values[1])
    rows = outcome(many, fitted, BOTH).results({})["candidates"]
    assert rows[BOTH]["against_control"]["value"] == pytest.approx(values[0] - values[1])
    assert [row["against_control"] is None for row in rows] == [True, True, False, True]


def test_what_beats_log_loss_and_its_average_has_a_gain_by_the_metric(many):
    fitted = four(many, both=2.0, two=0.5)
    said = last_sentence(many, fitted, BOTH)
    (pair,) = outcome(many, fitted, BOTH).controls
    gain = pair.difference
    assert said == (
        "The gain comes from the metric; against the mean of two linear models trained on "
        "log-loss: "
        f"{gain.mean:+.4f} (95 % {gain.low:+.4f} to {gain.high:+.4f}, p {gain.p:.3f}), "
        "clearly better."
    )
    assert gain.low > 0


def test_what_gains_no_more_than_the_average_of_log_losses_may_owe_it_to_averaging(many):
    said = last_sentence(many, four(many, both=1.0, two=1.0), BOTH)
    assert said.startswith(
        "The gain may come from averaging; against the mean of two linear models"
    )
    assert said.endswith("within chance.")


def test_an_average_of_log_losses_that_is_better_is_reported(many):
    said = last_sentence(many, four(many, both=0.7, two=2.0), BOTH)
    assert said.startswith("Averaging without the metric gains more; against the mean of two")
    assert said.endswith("worse.")


def test_a_recommended_control_is_a_gain_of_averaging(many):
    said = last_sentence(many, four(many, both=1.0, two=1.0), TWO)
    assert said.startswith(
        "The gain comes from averaging: both of its models are trained on log-loss. "
        "Against it, the mean of two linear models trained on log-loss and on average precision: "
    )


def test_without_a_clear_gain_only_the_number_is_reported(many):
    fitted = four(many, both=0.0, two=0.0)
    said = outcome(many, fitted, BOTH).verdict
    assert "within chance. Against the mean of two linear models trained on log-loss: " in said
    assert "The gain" not in said


def test_the_metric_alone_is_compared_where_it_is_recommended(many):
    fitted = four(many, metric=2.0, both=1.0, two=0.5)
    assert [pair.candidate for pair in outcome(many, fitted, METRIC).controls] == [METRIC]
    assert [pair.candidate for pair in outcome(many, fitted, TWO).controls] == [BOTH]


def test_where_nothing_can_be_decided_no_source_is_named(tmp_path):
    here = problem(tmp_path)
    said = outcome(here, four(here, both=3.0), BOTH).verdict
    assert said.startswith("Nothing can be decided")
    assert "twice" not in said


def test_without_a_control_there_is_nothing_to_compare_with(many):
    fitted = four(many, both=2.0)[:TWO]
    found = outcome(many, fitted, BOTH)
    assert found.controls == []
    assert (
        found.verdict
        == "On the test part it is clearly better than a linear model trained on log-loss."
    )
    alone = [fitted[PLAIN], four(many)[TWO]]
    assert controlled(alone, Choice(1, 0, ""), Evaluation([(many, alone)])) == []
