"""The real estimators, on tables of every kind, with one trial each."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tasks.compare.stubs import settings, table

from rankwise.tasks.compare.candidates import CLASSES
from rankwise.tasks.compare.model import load_model
from rankwise.tasks.compare.pipeline import run
from rankwise.tasks.compare.predict import predict_file


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Few epochs and folds: whether it fits together is seen at once."""
    monkeypatch.setattr("rankwise.tasks.compare.problem.FOLDS", 2)
    monkeypatch.setattr("rankwise.tasks.compare.problem.REPEATS", 1)
    monkeypatch.setattr("rankwise.tasks.compare.candidates.MOST_EPOCHS", 60)


@pytest.mark.parametrize("model", CLASSES)
@pytest.mark.parametrize(
    "options",
    [{"time": "day", "drop": ("user",)}, {"group": "user", "drop": ("day",), "metric": "ndcg@5"}],
    ids=["by time", "lists"],
)
def test_words_gaps_times_and_lists(tmp_path, model, options):
    asked = settings(tmp_path, candidates=model, trials=1, **options)
    found = run(asked, tmp_path / "run").results
    assert not found["left_out"]
    assert [row["model"] for row in found["candidates"]] == [model] * 4
    table(rows=40, seed=3).write_csv(tmp_path / "new.csv")
    predicted = predict_file(tmp_path / "run", tmp_path / "new.csv").frame
    assert predicted.shape == (40, 2)
    assert np.isfinite(predicted["score"].to_numpy()).all()
    scores = np.load(tmp_path / "run" / "predictions.npz")[f"score_{found['recommended']}"]
    again = predict_file(tmp_path / "run", asked.data).frame["score"].to_numpy()
    rows = np.load(tmp_path / "run" / "predictions.npz")["row"]
    np.testing.assert_allclose(again[rows], scores, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("model", CLASSES)
def test_relevances_in_svmlight(tmp_path, model):
    rng = np.random.default_rng(0)
    lines = []
    for query in range(60):
        for _ in range(8):
            row = rng.normal(size=3)
            grade = int(np.clip(np.round(row[0] + 0.5 * rng.normal()), 0, 2))
            features = " ".join(f"{n + 1}:{value:.3f}" for n, value in enumerate(row))
            lines.append(f"{grade} qid:{query} {features}")
    path = tmp_path / "table.svm"
    path.write_text("\n".join(lines))
    asked = settings(tmp_path, drop=())
    asked = type(asked)(
        data=path, target=None, metric="ndcg@5", group="qid", candidates=model, trials=1
    )
    found = run(asked, tmp_path / "run").results
    assert not found["left_out"]
    assert load_model(tmp_path / "run").reading.names == ("f1", "f2", "f3")
    assert found["candidates"][found["recommended"]]["test"]["value"] > 0.75
