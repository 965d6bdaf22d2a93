from __future__ import annotations

import pytest

from rankwise.naming import metric, metric_of, objective
from rankwise.theory import Mean
from reproductions.fidelity import measure as fidelity
from reproductions.fidelity.reading import (
    best_rows,
    constant_scorers,
    family,
    leads,
    means_and_gains,
    own_cells,
)


@pytest.mark.parametrize("name", fidelity.OBJECTIVES.values())
def test_every_row_has_a_column_of_its_own_family(name):
    objective(name, prior=0.1, num_items=10)
    own = family(metric_of(name))
    assert own in {family(judge) for judge in fidelity.METRICS.values()}


@pytest.mark.parametrize("name", fidelity.METRICS.values())
def test_every_column_has_a_row_of_its_own_family(name):
    metric(name)
    assert family(name) in {family(metric_of(row)) for row in fidelity.OBJECTIVES.values()}


def test_the_best_row_of_a_column():
    gains = {
        (row, column): Mean(float(row == "soap") + float((row, column) == ("auc", "auc")) * 2, 0, 3)
        for row in fidelity.OBJECTIVES
        for column in fidelity.METRICS
    }
    best = best_rows(gains)
    assert best.pop("auc") == "auc"
    assert set(best.values()) == {"soap"}


def test_a_lead_over_the_own_family_is_that_of_the_same_problems():
    level = {"soap": 3.0, "ndcg": 2.0}
    values = [
        fidelity.Value(row, column, repeat, 10.0 * repeat + level.get(row, 1.0) * (1 + repeat / 10))
        for row in fidelity.OBJECTIVES
        for column in fidelity.METRICS
        for repeat in range(3)
    ]
    gains = {
        (row, column): Mean(level.get(row, 1.0), 0, 3)
        for row in fidelity.OBJECTIVES
        for column in fidelity.METRICS
    }
    found = leads(values, gains)
    # In a column that another family leads the best of its own, in its own the best of the others.
    for judge, second in (("ndcg@20", "ndcg"), ("ap", "ndcg")):
        other, lead = found[judge]
        assert other == second
        assert lead.value == pytest.approx(1.1)
        assert lead.half_width() < 0.5  # the problems differ by 10, not so the differences


def test_scorers_that_became_constant_are_counted_by_objective():
    values = [
        fidelity.Value("auc", fidelity.SPREAD, 0, 0.5),
        fidelity.Value("pap@20", fidelity.SPREAD, 0, 0.004),
        fidelity.Value("pap@20", fidelity.SPREAD, 1, 0.0),
        fidelity.Value("pap@20", "auc", 1, 0.0),
    ]
    assert constant_scorers(values) == {"pap@20": 2}


def test_gains_are_of_the_same_problem_and_the_spread_is_no_metric():
    values = [
        fidelity.Value(row, column, repeat, 10.0 * repeat + (row == "auc"))
        for row in (fidelity.REFERENCE, "auc")
        for column in ("auc", fidelity.SPREAD)
        for repeat in range(4)
    ]
    means, gains = means_and_gains(values)
    assert set(gains) == {("auc", "auc")}
    assert means[fidelity.REFERENCE, "auc"].value == 15
    assert (gains["auc", "auc"].value, gains["auc", "auc"].half_width()) == (1, 0)


def test_own_cells_are_of_one_family():
    cells = set(own_cells())
    assert ("soap", "ap") in cells
    assert ("ndcg", "ndcg@20") in cells
    assert ("soap", "auc") not in cells
