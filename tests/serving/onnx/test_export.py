"""ONNX graphs of saved models give the numbers of the estimators, in onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import polars as pl
import pytest
from tests.serving.models import NUMPY, fitted, plain_columns, table, unseen
from tests.tasks.ranking.cases import written
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.data.reading import Reading, Rule
from rankwise.errors import UsageError
from rankwise.estimators import BoostedRanker, LinearRanker, Ranker
from rankwise.serving import export_onnx
from rankwise.tasks.compare.model import Member, Model


def feeds(rows: pl.DataFrame) -> dict[str, np.ndarray[Any, Any]]:
    """Return the inputs of a graph of named columns."""
    found: dict[str, np.ndarray[Any, Any]] = {}
    for name in rows.columns:
        column = rows[name]
        if column.dtype == pl.String:
            found[name] = np.array([[word or ""] for word in column], dtype=object)
        elif column.dtype == pl.Datetime:
            found[name] = column.to_numpy().astype("datetime64[us]").astype(np.int64)[:, None]
        else:
            found[name] = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()[:, None]
    return found


def run(path: Path, inputs: dict[str, Any]) -> tuple[Any, Any]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    score, probability = session.run(["score", "probability"], inputs)
    return score, probability


@pytest.mark.parametrize("name", [*NUMPY, "neural"])
def test_scores_and_probabilities_are_those_of_the_estimator(name: str, tmp_path: Path) -> None:
    ranker, rows = fitted(name, text=False), plain_columns(unseen())
    path = export_onnx(ranker.save(tmp_path / "m.rank"), tmp_path / "m.onnx")
    score, probability = run(path, feeds(rows))
    np.testing.assert_allclose(score, ranker.decision_function(rows), atol=1e-6)
    np.testing.assert_allclose(probability, ranker.predict_proba(rows)[:, 1], atol=1e-6)


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_a_matrix_with_gaps(engine: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)).round(1)
    y = X[:, 0] + rng.normal(size=500) > 1
    ranker = BoostedRanker(n_estimators=10, engine=engine, random_state=0, n_jobs=1).fit(X, y)
    new = rng.normal(size=(300, 4)).round(1)
    new[rng.random(new.shape) < 0.2] = np.nan
    score, _ = run(export_onnx(ranker.save(tmp_path / "m"), tmp_path / "m.onnx"), {"X": new})
    np.testing.assert_allclose(score, ranker.decision_function(new), atol=1e-6)


def test_trees_that_are_one_leaf(tmp_path: Path) -> None:
    X, y = np.zeros((60, 1)), np.arange(60) < 20
    for engine in ("lightgbm", "xgboost"):
        ranker = BoostedRanker(n_estimators=3, engine=engine, random_state=0, n_jobs=1).fit(X, y)
        path = export_onnx(ranker.save(tmp_path / engine), tmp_path / f"{engine}.onnx")
        np.testing.assert_allclose(run(path, {"X": X})[0], ranker.decision_function(X), atol=1e-6)


def test_dates_before_and_after_1970_and_leap_days(tmp_path: Path) -> None:
    days = np.arange(np.datetime64("1899-12-25"), np.datetime64("2101-03-05"), 3)
    when = days.astype("datetime64[us]") + np.timedelta64(5_123_456_789, "us")
    frame = pl.DataFrame({"when": when})
    months = when.astype("datetime64[M]").astype(int) % 12
    ranker = LinearRanker(max_iter=20, random_state=0).fit(frame[::80], months[::80] > 8)
    path = export_onnx(ranker.save(tmp_path / "m"), tmp_path / "m.onnx")
    found = run(path, {"when": when.astype(np.int64)[:, None]})[0]
    np.testing.assert_allclose(found, ranker.decision_function(frame), atol=1e-6)


def test_a_model_of_several_rankers(tmp_path: Path) -> None:
    frame, rows = plain_columns(table()[0]), plain_columns(unseen())
    kinds = ["numeric", "categorical", "time", "numeric"]
    reading = Reading(tuple(map(Rule, frame.columns, kinds)))  # type: ignore[arg-type]
    names = ("isotonic", "lightgbm", "neural")  # ranks are steep: XGBoost sums in 32 bits
    model = Model(tuple(Member.of(fitted(n, text=False), frame) for n in names), reading, {})
    path = export_onnx(model.save(tmp_path / "model"), tmp_path / "m.onnx")
    score, probability = run(path, feeds(rows))
    np.testing.assert_allclose(score, model.scores(rows), atol=1e-6)
    np.testing.assert_allclose(probability, model.probabilities(rows), atol=1e-6)


def test_what_has_no_graph_is_refused(tmp_path: Path) -> None:
    path = fitted("linear").save(tmp_path / "text.rank")
    with pytest.raises(UsageError, match="column 'note' is free text"):
        export_onnx(path, tmp_path / "m.onnx")
    frame = pl.DataFrame({"score": np.arange(60.0)})
    path = LinearRanker(max_iter=5, random_state=0).fit(frame, np.arange(60) > 40).save(path)
    with pytest.raises(UsageError, match="rename the column"):
        export_onnx(path, tmp_path / "m.onnx")
    with pytest.raises(UsageError, match="no such model"):
        export_onnx(tmp_path / "none", tmp_path / "m.onnx")
    assert not (tmp_path / "m.onnx").exists()


@pytest.mark.parametrize("model", ["linear", "boosted", "mlp"])
def test_a_run_of_rank_gives_the_numbers_of_its_ranker(model: str, tmp_path: Path) -> None:
    data, out = written(tmp_path / "train.txt"), tmp_path / "run"
    small = {"boosted": ["--set", "n_estimators=3"], "mlp": ["--set", "epochs=2"]}.get(model, [])
    call = ["rank", "train", str(data), "--model", model, "--metric", "ndcg@3", "--out", str(out)]
    done = CliRunner().invoke(app, [*call, *small])
    assert done.exit_code == 0, done.output
    ranker = Ranker.load(out / "model.ranker")
    rows = np.random.default_rng(0).normal(size=(40, ranker.n_features_in_))
    score, _ = run(export_onnx(out, tmp_path / "m.onnx"), {"X": rows})
    np.testing.assert_allclose(score, ranker.decision_function(rows), atol=1e-6)
