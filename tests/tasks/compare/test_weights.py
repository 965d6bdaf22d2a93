"""``--weight``: in training, in the choice and in the metrics of the test part."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from tests.tasks.compare.stubs import StubRanker, problem, settings, stubbed, table

from rankwise.data import DataError
from rankwise.files import read_npz
from rankwise.report.comparison.run_files import read_run
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import fit_members
from rankwise.tasks.compare.metrics import Truth
from rankwise.tasks.compare.pipeline import run
from rankwise.tasks.compare.scores import evaluate_run

__all__ = ["stubbed"]


@pytest.fixture
def weighted(tmp_path):
    weight = np.random.default_rng(1).integers(1, 4, 600) / 2
    table().with_columns(w=weight).write_csv(tmp_path / "table.csv")
    return tmp_path


def test_weights_are_no_feature_and_count_in_every_metric(weighted) -> None:
    here = problem(weighted, weight="w")
    assert here.table.names == ("a", "b", "c", "word")
    rows = here.plan.parts.test
    scores = np.random.default_rng(0).normal(size=len(rows)) + here.table.target[rows]
    wanted = average_precision_score(
        here.table.target[rows], scores, sample_weight=here.table.weight[rows]
    )
    assert here.value(scores, rows) == pytest.approx(wanted)
    assert here.estimate(scores, rows).mean == pytest.approx(wanted)
    given = Truth(here.table.target[rows], weight=here.table.weight[rows])
    assert given.interval("ap", scores).method == "bootstrap"  # the formula knows no weights
    assert given.difference("ap", scores, -scores).value_a == pytest.approx(wanted)
    expected = wanted - here.value(-scores, rows)
    assert here.difference(scores, -scores, rows).mean == pytest.approx(expected)


@pytest.mark.parametrize("name", ["ap", "auc"])
def test_a_row_of_weight_two_is_the_row_twice_in_value_and_difference(name) -> None:
    rng = np.random.default_rng(0)
    target = (rng.random(200) < 0.3).astype(float)
    one, two = (target + rng.normal(size=200) for _ in range(2))
    weight = rng.integers(1, 3, 200)
    often = np.repeat(np.arange(200), weight)
    by_weight, by_rows = Truth(target, weight=weight.astype(float)), Truth(target[often])
    expected = pytest.approx(by_rows.value(name, one[often]))
    assert by_weight.value(name, one) == expected
    assert by_weight.interval(name, one).value == expected
    assert by_weight.difference(name, one, two).difference == pytest.approx(
        by_rows.difference(name, one[often], two[often]).difference
    )


@pytest.mark.parametrize("model", ["linear", "boosted", "neural"])
@pytest.mark.parametrize("objective", ["log_loss", "ap", "auc", "opauc(max_fpr=.1)"])
def test_every_model_and_objective_is_trained_with_the_weights(weighted, model, objective) -> None:
    here = problem(weighted, weight="w")
    plain = replace(here, table=replace(here.table, weight=None))
    rows, options = here.plan.parts.train, {}
    if model == "neural":
        options = {"epochs": 2, "hidden": (4,)}
    (one,), (other,) = (
        fit_members(Candidate(model, objective), options, each, rows, range(1))
        for each in (here, plain)
    )
    features = here.table.of(rows)
    assert not np.allclose(one.scores(features), other.scores(features))


@pytest.mark.usefixtures("stubbed")
def test_a_run_keeps_the_weights_for_resume_and_for_the_report(weighted, monkeypatch) -> None:
    given = []
    real = StubRanker.fit

    def fit(self, X, y, **options):
        given.append(options["sample_weight"])
        return real(self, X, y, **options)

    monkeypatch.setattr(StubRanker, "fit", fit)
    asked = settings(weighted, weight="w", trials=1)
    found = run(asked, weighted / "run")
    assert all(weight is not None for weight in given)
    config = json.loads((weighted / "run" / "config.json").read_text())
    assert config["weight"] == "w"
    arrays = read_npz(weighted / "run" / "predictions.npz")
    test = average_precision_score(
        arrays["target"], arrays["score_0"], sample_weight=arrays["weight"]
    )
    assert found.results["candidates"][0]["test"]["value"] == pytest.approx(test)
    assert (read_run(weighted / "run").predictions.weight == arrays["weight"]).all()
    chosen = found.results["candidates"][found.results["recommended"]]
    again = evaluate_run(weighted / "run").metrics["ap"]
    assert again.value == pytest.approx(chosen["test"]["value"])
    assert again.low == pytest.approx(chosen["test"]["low"])
    with pytest.raises(DataError, match="weight was 'w' and is None"):
        run(asked.model_copy(update={"weight": None}), weighted / "run", resume=True)


def test_a_metric_of_counts_refuses_parts_of_a_row(weighted) -> None:
    lists = {"group": "user", "drop": ("day",), "weight": "w"}
    for name in ("hit@3", "ap@3"):
        with pytest.raises(DataError, match="counts rows: --weight must hold whole numbers"):
            problem(weighted, metric=name, **lists)
    assert problem(weighted, metric="ndcg@5", **lists).table.weight is not None
