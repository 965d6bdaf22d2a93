from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from rankwise.data import DataError
from rankwise.metrics import compare_many, delong_test, holm
from rankwise.tasks.compare import evaluate_systems


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 900
    y = (rng.random(n) < 0.3).astype(int)
    frame = pl.DataFrame(
        {
            "q": rng.integers(30, size=n),
            "y": y,
            "weak": 0.3 * y + rng.normal(size=n),
            "good": 2 * y + rng.normal(size=n),
            "same": 2 * y + rng.normal(size=n),
        }
    )
    path = tmp_path_factory.mktemp("systems") / "scores.csv"
    frame.write_csv(path)
    return path, frame


SYSTEMS = ("weak", "good", "same")


def test_over_lists_it_is_compare_many_of_the_values_by_list(scored):
    path, frame = scored
    found = evaluate_systems(path, target="y", scores=SYSTEMS, group="q", metrics=["ap"])
    values = np.array(
        [
            [average_precision_score(part["y"], part[name]) for part in frame.partition_by("q")]
            for name in SYSTEMS
        ]
    )
    expected = compare_many(values)
    by_name = {(pair.a, pair.b): pair.found for pair in found.pairs}
    for (a, b), each in expected.items():
        ours = by_name[SYSTEMS[a], SYSTEMS[b]]
        assert ours.difference == pytest.approx(each.difference)
        assert ours.p_value == pytest.approx(each.p_value, abs=0.02)  # swaps of other list orders
    assert found.metrics["ap"]["good"].value == pytest.approx(values[1].mean())
    assert found.lists == 30


@pytest.mark.parametrize("correction", ["randomized-tukey", "tukey-hsd", "holm"])
def test_the_worse_system_is_known_and_equal_ones_are_not_distinguished(scored, correction):
    found = evaluate_systems(
        scored[0], target="y", scores=SYSTEMS, group="q", metrics=["auc"], correction=correction
    )
    verdicts = {tuple(row[:2]): row[-1] for _, t in found.pair_tables() for row in t.rows}
    assert verdicts == {
        ("weak", "good"): "good is better",
        ("weak", "same"): "same is better",
        ("good", "same"): "no difference shown",
    }
    assert found.method == correction


def test_in_one_list_it_is_delongs_test_with_holms_method(scored):
    path, frame = scored
    found = evaluate_systems(path, target="y", scores=SYSTEMS, metrics=["auc"])
    tests = [
        delong_test(frame[a].to_numpy(), frame[b].to_numpy(), frame["y"].to_numpy())
        for a, b in (("weak", "good"), ("weak", "same"), ("good", "same"))
    ]
    adjusted = holm([each.p_value for each in tests])
    by_name = {(pair.a, pair.b): pair.found.p_value for pair in found.pairs}
    assert list(by_name.values()) == sorted(by_name.values())
    assert by_name["good", "same"] == pytest.approx(adjusted[2])
    assert by_name["weak", "same"] == pytest.approx(adjusted[1])
    assert found.metrics["auc"]["weak"].value == pytest.approx(
        roc_auc_score(frame["y"], frame["weak"])
    )
    assert "Holm's method" in found.remark
    assert "paired over rows" in found.remark


def test_without_metrics_all_are_shown_and_the_first_is_compared(scored):
    found = evaluate_systems(scored[0], target="y", scores=SYSTEMS, group="q")
    assert {pair.metric for pair in found.pairs} == {"ap"}
    assert {"ap", "auc", "ndcg@10"} < set(found.metrics)
    systems = [row[1] for row in found.table.rows if row[0] == "ap"]
    assert systems[-1] == "weak"  # the best first


@pytest.mark.parametrize("group", [None, "q"])
def test_of_a_metric_that_is_better_when_lower_the_lowest_system_wins(scored, group):
    options = {"group": group, "metrics": ["fpr_at_tpr(.8)"]}
    found = evaluate_systems(scored[0], target="y", scores=SYSTEMS, **options)
    assert found.table.rows[-1][1] == "weak"
    verdicts = {tuple(row[:2]): row[-1] for _, t in found.pair_tables() for row in t.rows}
    assert verdicts["weak", "good"] == "good is better"
    assert verdicts["weak", "same"] == "same is better"


def test_as_files_hold_it(scored):
    found = evaluate_systems(scored[0], target="y", scores=SYSTEMS, group="q", metrics=["ap"])
    listed = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert listed["correction"] == "randomized-tukey"
    assert [(p["a"], p["b"]) for p in listed["pairs"]] == [(p.a, p.b) for p in found.pairs]
    assert found.as_frame()["p_value"].to_list() == [p["p_value"] for p in listed["pairs"]]


def test_what_is_refused(scored, tmp_path):
    with pytest.raises(DataError, match="--score good was given twice"):
        evaluate_systems(scored[0], target="y", scores=["good", "weak", "good"])
    with pytest.raises(DataError, match="no score column 'god'"):
        evaluate_systems(scored[0], target="y", scores=["god", "weak"])
    path = tmp_path / "s.csv"
    path.write_text("q,y,a,b\n1,1,2,1\n1,0,1,2\n")
    with pytest.raises(DataError, match="ap: values must have at least two lists"):
        evaluate_systems(path, target="y", scores=["a", "b"], group="q", metrics=["ap"])
