"""The FastAPI example scores rows as the estimator does, and refuses wrong ones in one line."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from tests.serving.models import fitted, unseen

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "serving" / "fastapi_app.py"


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setenv("RANKWISE_MODEL", str(fitted("lightgbm").save(tmp_path / "m.rank")))
    spec = importlib.util.spec_from_file_location("fastapi_app", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return TestClient(module.app)


def test_rows_are_scored_as_by_the_estimator(client: TestClient) -> None:
    rows = unseen(20)
    sent = rows.with_columns(pl.col("when").dt.to_string("iso:strict")).to_dicts()
    answer = client.post("/score", json=sent)
    assert answer.status_code == 200
    ranker = fitted("lightgbm")
    np.testing.assert_allclose(answer.json()["score"], ranker.decision_function(rows))
    expected = ranker.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(answer.json()["probability"], expected)


def test_a_missing_column_is_one_sentence(client: TestClient) -> None:
    answer = client.post("/score", json=[{"x": 1.0}])
    assert answer.status_code == 422
    assert "no column 'word'" in answer.json()["detail"]


def test_it_has_some_20_lines_of_code() -> None:
    lines = [line for line in FILE.read_text().split("\n") if line.strip()]
    assert len(lines) <= 20
    assert "`examples/serving/fastapi_app.py`" in (ROOT / "docs" / "gallery.md").read_text()
