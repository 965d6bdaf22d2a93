from __future__ import annotations

import pytest

from rankwise.studies.base import Setting
from rankwise.studies.fidelity import measure as fidelity


@pytest.mark.parametrize(("quick", "draws", "repeats"), [(True, None, 3), (False, 7, 7)])
def test_the_plan_of_a_setting(quick, draws, repeats):
    assert fidelity.Plan.of(Setting(quick=quick, draws=draws)).repeats == repeats


def test_every_scorer_has_every_metric_and_a_spread(monkeypatch):
    monkeypatch.setattr(fidelity, "OBJECTIVES", {"pap@20": "pap@20", "auc": "auc"})
    values = fidelity.measure(fidelity.Plan(items=200, steps=100, repeats=1), Setting())
    cells = {(value.objective, value.metric): value.value for value in values}
    judges = {*fidelity.METRICS, fidelity.SPREAD}
    assert set(cells) == {(o, m) for o in (fidelity.REFERENCE, "pap@20", "auc") for m in judges}
    # The pairs of the one can be told apart a little, the margins of the other cannot be kept.
    assert cells["pap@20", fidelity.SPREAD] < 0.5 * cells["auc", fidelity.SPREAD]


def test_all_start_where_cross_entropy_ends():
    """With no step at all every objective has the metrics of cross-entropy."""
    values = fidelity.measure(fidelity.Plan(items=100, steps=0, repeats=1), Setting())
    by_metric = {}
    for value in values:
        if value.metric != fidelity.SPREAD:  # of scores that are all 0
            by_metric.setdefault(value.metric, set()).add(value.value)
    assert all(len(found) == 1 for found in by_metric.values())
