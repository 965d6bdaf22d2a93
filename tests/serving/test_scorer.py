"""Saved models scored with numpy alone: the numbers of the estimators."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.serving.models import NUMPY, fitted, plain_columns, table, unseen

from rankwise.data.reading import Reading, Rule
from rankwise.errors import UsageError
from rankwise.estimators import BoostedRanker, LinearRanker
from rankwise.serving import export_onnx, load_scorer
from rankwise.tasks.compare.model import Member, Model, load_model
from rankwise.training import RunFolder

BLOCKED = ("torch", "lightgbm", "xgboost", "sklearn", "scipy", "polars", "pandas", "pydantic")


@pytest.mark.parametrize("name", NUMPY)
def test_scores_and_probabilities_are_those_of_the_estimator(name: str, tmp_path: Path) -> None:
    ranker, rows = fitted(name), unseen()
    scorer = load_scorer(ranker.save(tmp_path / "model.rank"))
    for given in (rows, rows.to_pandas(), rows.to_dicts(), rows.to_dict(as_series=False)):
        np.testing.assert_allclose(scorer.scores(given), ranker.decision_function(rows), atol=1e-9)
        expected = ranker.predict_proba(rows)[:, 1]
        np.testing.assert_allclose(scorer.probabilities(given), expected, atol=1e-9)


def test_large_trees_have_more_leaves_than_one_word() -> None:
    texts = fitted("large trees").texts_.values()  # type: ignore[attr-defined]
    leaves = [int(line[11:]) for t in texts for line in t.split("\n") if line[:11] == "num_leaves="]
    assert max(leaves) > 64


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_a_matrix_with_gaps_is_scored_to_the_last_bit(engine: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)).round(1)
    y = X[:, 0] + rng.normal(size=500) > 1
    ranker = BoostedRanker(n_estimators=10, engine=engine, random_state=0, n_jobs=1).fit(X, y)
    new = rng.normal(size=(1100, 4)).round(1)  # on the thresholds, and in several blocks
    new[rng.random(new.shape) < 0.2] = np.nan
    scorer = load_scorer(ranker.save(tmp_path / "m"))
    np.testing.assert_array_equal(scorer.scores(new), ranker.decision_function(new))
    single = [scorer.scores(new[row : row + 1])[0] for row in range(20)]
    np.testing.assert_array_equal(single, ranker.decision_function(new[:20]))


def test_trees_that_are_one_leaf(tmp_path: Path) -> None:
    X, y = np.zeros((60, 1)), np.arange(60) < 20
    for engine in ("lightgbm", "xgboost"):
        ranker = BoostedRanker(n_estimators=3, engine=engine, random_state=0, n_jobs=1).fit(X, y)
        found = load_scorer(ranker.save(tmp_path / engine)).scores(X)
        np.testing.assert_allclose(found, ranker.decision_function(X), atol=1e-12)


def ensemble(folder: Path) -> Model:
    frame, _ = table()
    kinds = ["numeric", "categorical", "time", "text", "numeric"]
    reading = Reading(tuple(map(Rule, frame.columns, kinds)))  # type: ignore[arg-type]
    members = tuple(Member.of(fitted(name), frame) for name in ("linear", "lightgbm"))
    Model(members, reading, {}).save(folder)
    return load_model(folder)


def test_a_model_of_several_rankers_averages_ranks_and_probabilities(tmp_path: Path) -> None:
    model, rows = ensemble(tmp_path / "run" / "model"), unseen()
    scorer = load_scorer(tmp_path / "run")  # the folder of the run, as rankwise predict takes it
    np.testing.assert_allclose(scorer.scores(rows), model.scores(rows), atol=1e-9)
    np.testing.assert_allclose(scorer.probabilities(rows), model.probabilities(rows), atol=1e-9)


def test_no_other_library_is_imported(tmp_path: Path) -> None:
    rows = unseen(40).with_columns(pl.col("when").dt.to_string("iso:strict"))
    (tmp_path / "rows.json").write_text(json.dumps(rows.to_dicts()))
    for name in NUMPY:
        fitted(name).save(tmp_path / f"{name}.rank")
    program = f"""
import json, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ImportError(name + " is blocked")
sys.meta_path.insert(0, Blocked())
from rankwise.serving import export_onnx, load_scorer
rows, found = json.load(open("rows.json")), dict()
for name in {NUMPY}:
    scorer = load_scorer(name + ".rank")
    found[name] = [scorer.scores(rows).tolist(), scorer.probabilities(rows).tolist()]
print(json.dumps(found))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for name, (scores, probabilities) in json.loads(done.stdout).items():
        ranker, given = fitted(name), unseen(40)
        np.testing.assert_allclose(scores, ranker.decision_function(given), atol=1e-9)
        np.testing.assert_allclose(probabilities, ranker.predict_proba(given)[:, 1], atol=1e-9)


def test_a_network_is_refused_with_the_way_to_onnx(tmp_path: Path) -> None:
    path = fitted("neural").save(tmp_path / "net.rank")
    with pytest.raises(UsageError, match="export it to ONNX"):
        load_scorer(path)


def test_a_changed_byte_is_refused(tmp_path: Path) -> None:
    path = fitted("linear").save(tmp_path / "m.rank")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(UsageError, match="SHA-256"):
        load_scorer(path)
    ensemble(tmp_path / "model")
    fitted("isotonic").save(tmp_path / "model" / "0.ranker")  # sealed, but another one
    with pytest.raises(UsageError, match=r"0\.ranker was changed"):
        load_scorer(tmp_path / "model")


def test_the_model_of_another_run_is_refused(tmp_path: Path) -> None:
    def model(*names: str) -> Model:
        members = tuple(Member.of(fitted(name, text=False), rows) for name in names)
        return Model(members, Reading(tuple(Rule(name, "numeric") for name in rows.columns)), {})

    rows = plain_columns(table()[0])
    with RunFolder(tmp_path / "rank", "rank").opened() as rank:
        fitted("linear", text=False).save(rank.path / "model.ranker")
        rank.finish()
    with RunFolder(tmp_path / "compare", "compare").opened() as compare:
        model("linear").save(compare.path / "model")
        compare.finish()
    readers = (load_scorer, lambda path: export_onnx(path, tmp_path / "out.onnx"))
    for loads in readers:
        loads(rank.path)
        loads(compare.path)
    fitted("isotonic", text=False).save(rank.path / "model.ranker")  # sealed, but of another run
    model("isotonic").save(compare.path / "model")
    for loads in readers:
        with pytest.raises(UsageError, match=r"model\.ranker was changed or damaged"):
            loads(rank.path)
    for loads in (*readers, load_model):
        with pytest.raises(UsageError, match=r"model/model\.json was changed or damaged"):
            loads(compare.path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop("x"), "no column 'x'"),
        (lambda rows: rows.drop("x").to_dicts(), "no column 'x'"),
        (lambda rows: [{**row, "x": "3"} for row in rows.to_dicts()], "it holds words"),
        (lambda rows: [{**row, "x": np.inf} for row in rows.to_dicts()], "infinity"),
        (lambda rows: [{**row, "when": "soon"} for row in rows.to_dicts()], "column 'when'"),
        (lambda rows: {**rows.to_dict(as_series=False), "x": [1.0]}, "same number"),
        (lambda rows: np.zeros((2, 3)), "must have 5 columns"),
        (lambda rows: [], "at least one row"),
    ],
)
def test_wrong_rows_are_refused(change, message: str, tmp_path: Path) -> None:
    scorer = load_scorer(fitted("linear").save(tmp_path / "m.rank"))
    with pytest.raises(UsageError, match=message):
        scorer.scores(change(unseen(5)))


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path, message in (("none", "no such model"), ("file", "not a model"), (".", "no model")):
        with pytest.raises(UsageError, match=message):
            load_scorer(tmp_path / path)


def test_frames_may_have_more_columns_in_any_order(tmp_path: Path) -> None:
    ranker, rows = fitted("linear"), unseen(20)
    mixed = rows.with_columns(other=pl.lit(1)).select(["other", *reversed(rows.columns)])
    scorer = load_scorer(ranker.save(tmp_path / "m"))
    for given in (mixed, pd.DataFrame(mixed.to_dicts())):
        np.testing.assert_allclose(scorer.scores(given), ranker.decision_function(rows), atol=1e-9)


def test_more_than_two_classes_are_refused(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(90, 2))
    model = LinearRanker(random_state=0).fit(rows, np.repeat(["a", "b", "c"], 30))
    path = model.save(tmp_path / "model.rank")
    for use in (load_scorer, lambda path: export_onnx(path, tmp_path / "model.onnx")):
        with pytest.raises(UsageError, match="a model of 3 classes is scored by its estimator"):
            use(path)
