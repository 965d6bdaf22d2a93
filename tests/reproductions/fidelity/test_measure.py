from __future__ import annotations

import pytest

from reproductions.fidelity import measure as fidelity
from reproductions.frame import Setting


@pytest.mark.parametrize(("quick", "draws", "repeats"), [(True, None, 3), (False, 7, 7)])
def test_the_plan_of_a_setting(quick, draws, repeats):
    assert fidelity.Plan.of(Setting(quick=quick, draws=draws)).repeats == repeats


def test_every_scorer_has_every_metric_and_a_spread_on_both_problems(monkeypatch):
    rows = {"as printed": "pap(20, score_scale=1)", "auc": "auc"}
    monkeypatch.setattr(fidelity, "OBJECTIVES", rows)
    values = fidelity.measure(fidelity.Plan(items=400, steps=100, repeats=1), Setting())
    cells = {(v.problem, v.objective, v.metric): v.value for v in values}
    judges = {*fidelity.METRICS, fidelity.SPREAD}
    names = (fidelity.REFERENCE, *rows)
    assert set(cells) == {(p, o, m) for p in fidelity.PROBLEMS for o in names for m in judges}
    # The pairs of the one can be told apart a little, the margins of the other cannot be kept.
    spread = {name: cells["one list", name, fidelity.SPREAD] for name in rows}
    assert spread["as printed"] < 0.5 * spread["auc"]
    # A line orders the lists, and cross-entropy does not find it.
    assert cells["lists", fidelity.REFERENCE, "auc"] < 0.9
    assert cells["lists", "auc", "auc"] > 0.99


def test_all_start_where_cross_entropy_ends():
    """With no step at all every objective has the metrics of cross-entropy."""
    values = fidelity.measure(fidelity.Plan(items=400, steps=0, repeats=1), Setting())
    by_metric = {}
    for value in values:
        if value.metric != fidelity.SPREAD:  # of scores that are all 0
            by_metric.setdefault((value.problem, value.metric), set()).add(value.value)
    assert all(len(found) == 1 for found in by_metric.values())
