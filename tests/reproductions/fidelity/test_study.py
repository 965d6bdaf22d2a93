"""What the page says of values that are made up."""

from __future__ import annotations

import importlib
from dataclasses import replace

import pytest

from reproductions.fidelity.measure import (
    METRICS,
    OBJECTIVES,
    PROBLEMS,
    REFERENCE,
    SPREAD,
    Value,
)
from reproductions.fidelity.reading import own_cells
from reproductions.frame import Setting

module = importlib.import_module("reproductions.fidelity.study")
OWN = set(own_cells())


def told(monkeypatch, level, spread=1.0):
    """The sentences for scorers that are at ``level(problem, objective, metric)``."""
    values = []
    for problem in PROBLEMS:
        for name in (REFERENCE, *OBJECTIVES):
            for repeat in range(3):
                values += [
                    Value(name, judge, repeat, 0.1 * repeat + level(problem, name, judge), problem)
                    for judge in METRICS
                ]
                values.append(Value(name, SPREAD, repeat, spread, problem))
    monkeypatch.setattr(
        module, "study", replace(module.study, measure=lambda plan, setting: values)
    )
    outcome = module.study(Setting(quick=True))
    return outcome, " ".join(outcome.sections[-1].paragraphs)


def own_wins(problem, name, judge):
    return 0.2 * ((name, judge) in OWN) + 0.1 * (name != REFERENCE)


def test_where_every_metric_is_led_by_its_own(monkeypatch):
    outcome, said = told(monkeypatch, own_wins)
    assert "in 9 of 9 columns the best row is of the metric's own family" in said
    assert "The others" not in said
    assert "on one list none; on lists none; on both none." in said
    assert "shrunk" not in said
    assert set(outcome.summary["best"]) == set(METRICS)


def test_a_column_that_another_leads_and_a_loss_that_does_not_gain(monkeypatch):
    def level(problem, name, judge):
        if (name, judge) == ("soap", "auc"):
            return 0.9
        if name == "listnet" and (problem == "one list" or judge == "ndcg"):
            return -0.1
        return own_wins(problem, name, judge)

    _, said = told(monkeypatch, level)
    assert "in 8 of 9 columns" in said
    assert "The others: auc: soap." in said
    assert "on one list listnet; on lists listnet; on both listnet." in said


def test_scorers_that_became_constant_are_told(monkeypatch):
    _, said = told(monkeypatch, own_wins, spread=0.001)
    assert "pap@20 (3 of 3)" in said


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_summary_has_the_gains_of_both_problems(monkeypatch, problem):
    outcome, _ = told(monkeypatch, own_wins)
    gains = [g for g in outcome.summary["gains"] if g["problem"] == problem]
    assert len(gains) == len(OBJECTIVES) * len(METRICS)
