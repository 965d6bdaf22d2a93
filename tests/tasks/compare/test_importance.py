from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from tests.tasks.compare.stubs import problem, settings, stubbed, table
from tests.tasks.compare.test_results import done

from rankwise.tasks.compare import importance
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import fit_members, scored
from rankwise.tasks.compare.importance import _amount, _columns_to_measure, _shuffled, importance_of
from rankwise.tasks.compare.model import Model
from rankwise.tasks.compare.pipeline import run
from rankwise.tasks.compare.selection import Evaluation

__all__ = ["stubbed"]

pytestmark = pytest.mark.usefixtures("stubbed")


def held_out(here):
    """A stub that was fitted on the rows before the test part."""
    plan = here.plan
    members = fit_members(Candidate("linear", "ap"), {}, here, plan.parts.development, range(1))
    each = done(here, "ap", 1, Model(members, here.table.names, here.table.kinds, {}))
    test, _ = scored(members, here, plan.parts.test)
    object.__setattr__(each, "test", test)
    return Evaluation([(here, [each])])


def by_name(found):
    return {row["name"]: row for row in found["columns"]}


def test_the_columns_that_drive_the_target_are_first_and_noise_is_about_zero(tmp_path):
    table(rows=3000).write_csv(tmp_path / "table.csv")
    here = problem(tmp_path)
    found = importance_of(tmp_path, 0, here, held_out(here))
    assert found["columns"][0]["name"] == "a"
    columns = by_name(found)
    assert set(columns) == {"a", "b", "c", "word"}  # as they stand in the table
    assert columns["a"]["low"] > 0.1
    for noise in ("c", "word"):
        assert abs(columns[noise]["mean"]) < 0.02
    for row in found["columns"]:
        assert row["low"] <= row["mean"] <= row["high"]
    assert (found["rows"], found["of_rows"], found["repeats"]) == (600, 600, 10)
    assert found["part"] == "the test part"


def test_the_importance_is_the_metric_lost_on_the_rows_held_out(tmp_path):
    here = problem(tmp_path)
    evaluation = held_out(here)
    rows = here.plan.parts.test
    found = importance_of(tmp_path, 0, here, evaluation)
    assert found["value"] == pytest.approx(here.value(evaluation.scores(0), rows))
    rng = np.random.default_rng(5)
    ((model, _),) = evaluation.tested(0)
    features = here.table.of(rows)
    losses = []
    for _ in range(200):
        changed = features.with_columns(features["a"].gather(rng.permutation(len(rows))))
        losses.append(found["value"] - here.value(model.scores(changed), rows))
    row = by_name(found)["a"]
    assert row["mean"] == pytest.approx(np.mean(losses), abs=3 * (row["high"] - row["mean"]))


def test_a_resumed_run_reports_what_was_measured(tmp_path, monkeypatch):
    asked, out = settings(tmp_path, trials=1), tmp_path / "run"
    before = run(asked, out).results["importance"]
    assert json.loads((out / "importance.json").read_text())["columns"] == before["columns"]
    monkeypatch.setattr(importance, "_measured", None)
    assert run(asked, out, resume=True).results["importance"] == before


def test_less_time_takes_fewer_shuffles_and_then_fewer_rows():
    assert _amount(50.0, 1000)[0] == 10
    assert _amount(4.9, 1000) == (4, 1.0)
    assert _amount(1.5, 1000) == (3, 0.5)
    assert _amount(1e-9, 1000) == (3, 0.2)
    assert _amount(1e-9, 100) == (3, 1.0)


def test_fewer_rows_are_drawn_in_each_class_and_said(tmp_path, monkeypatch):
    here = problem(tmp_path)
    monkeypatch.setattr(importance, "_MIN_ROWS", 60)
    monkeypatch.setattr(importance, "_MIN_SECONDS", 0.0)
    object.__setattr__(here.settings, "budget", 1e-9)
    found = importance_of(tmp_path, 0, here, held_out(here))
    assert (found["rows"], found["of_rows"], found["repeats"]) == (60, 120, 3)


@pytest.mark.parametrize("make", [np.array, csr_array], ids=["dense", "sparse"])
def test_one_column_of_an_array_is_shuffled_and_nothing_else(make):
    features = make(np.arange(12.0).reshape(4, 3))
    changed = _shuffled(features, 1, np.array([3, 2, 1, 0]))
    dense = changed.toarray() if hasattr(changed, "toarray") else changed
    assert dense[:, 1].tolist() == [10, 7, 4, 1]
    assert dense[:, [0, 2]].tolist() == [[0, 2], [3, 5], [6, 8], [9, 11]]
    assert type(changed) is type(features)


def test_of_very_many_columns_those_that_go_with_the_scores_and_the_words(monkeypatch):
    monkeypatch.setattr(importance, "_MAX_COLUMNS", 2)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=50)
    frame = pl.DataFrame(
        {"noise": rng.normal(size=50), "w": ["x"] * 50, "like": -scores, "flat": np.ones(50)}
    )
    assert _columns_to_measure(frame, scores) == [1, 2]
    numbers = frame.drop("w").to_numpy()
    assert 1 in _columns_to_measure(numbers, scores)
    assert 1 in _columns_to_measure(csr_array(numbers), scores)


def test_lists_are_shuffled_too(tmp_path):
    found = run(
        settings(tmp_path, trials=1, group="user", drop=("day",), metric="ndcg@5"), tmp_path / "run"
    ).results["importance"]
    assert found["columns"][0]["name"] == "a"
