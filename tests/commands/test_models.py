"""``rankwise export``: a saved model as a file of ONNX."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
from tests.serving.models import fitted, plain_columns, unseen
from tests.serving.onnx.test_export import feeds
from typer.testing import CliRunner

from rankwise.cli import app


def test_export_writes_a_graph_with_the_scores_of_the_model(tmp_path: Path) -> None:
    ranker, rows = fitted("linear", text=False), plain_columns(unseen(20))
    path, out = ranker.save(tmp_path / "m.rank"), tmp_path / "m.onnx"
    done = CliRunner().invoke(app, ["export", str(path), "--out", str(out)])
    assert done.exit_code == 0, done.output
    score = onnxruntime.InferenceSession(out).run(["score"], feeds(rows))[0]
    np.testing.assert_allclose(score, ranker.decision_function(rows), atol=1e-9)


def test_wrong_calls_are_one_line(tmp_path: Path) -> None:
    path = fitted("linear").save(tmp_path / "m.rank")
    for arguments, words in (
        ([str(path), "--out", "m.pt"], "--out must be a file *.onnx"),
        ([str(tmp_path / "none")], "there is no such model"),
        ([str(path), "--out", str(tmp_path / "m.onnx")], "free text"),
    ):
        done = CliRunner().invoke(app, ["export", *arguments])
        assert done.exit_code == 2
        assert words in done.output
