from __future__ import annotations

import polars as pl
import pytest
from tests.tasks.compare.stubs import stubbed, table
from typer.testing import CliRunner

from rankwise.cli import app

__all__ = ["stubbed"]

RUN = CliRunner()
SMALL = ["--target", "y", "--trials", "1", "--contenders", "linear:log_loss"]

pytestmark = pytest.mark.usefixtures("stubbed")


@pytest.fixture
def data(tmp_path, monkeypatch, stubbed):
    monkeypatch.setenv("COLUMNS", "200")
    table().drop("user", "day").write_csv(tmp_path / "data.csv")
    arguments = ["compare", str(tmp_path / "data.csv"), *SMALL, "--out", str(tmp_path / "run")]
    assert RUN.invoke(app, arguments).exit_code == 0
    return tmp_path / "data.csv"


def test_predict_prints_or_writes(tmp_path, data):
    printed = RUN.invoke(app, ["predict", str(tmp_path / "run"), str(data)])
    assert printed.exit_code == 0, printed.output
    out = tmp_path / "predictions.csv"
    written = RUN.invoke(app, ["predict", str(tmp_path / "run"), str(data), "--out", str(out)])
    assert written.exit_code == 0
    assert written.stdout == ""
    assert out.read_text() == printed.stdout
    assert pl.read_csv(out).shape == (600, 2)


def test_predict_refuses_in_one_line(tmp_path, data):
    pl.read_csv(data).drop("c").write_csv(tmp_path / "less.csv")
    for model, rows, message in (
        ("run", "less.csv", "1 of the 4 columns of the model are missing: 'c'"),
        ("run", "none.csv", "there is no such file"),
        ("none", "data.csv", "there is no such model"),
        ("data.csv", "data.csv", "is not a model that Ranker.save wrote"),
        ("run/contenders", "data.csv", "holds no model that rankwise wrote"),
    ):
        arguments = ["predict", str(tmp_path / model), str(tmp_path / rows)]
        done = RUN.invoke(app, [*arguments, "--out", str(tmp_path / "p.csv")])
        assert done.exit_code == 2, done.output
        assert message in done.stderr
        assert done.stderr.strip().count("\n") == 0
        assert not (tmp_path / "p.csv").exists()


def test_predict_does_not_write_over_what_it_reads(tmp_path, data, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = data.read_bytes()
    (tmp_path / "link.csv").symlink_to(data)
    for out in ("data.csv", "./data.csv", "link.csv"):
        done = RUN.invoke(app, ["predict", str(tmp_path / "run"), str(data), "--out", out])
        assert done.exit_code == 2, done.output
        assert "--out must be another file than" in done.stderr
        assert done.stderr.strip().count("\n") == 0
        assert data.read_bytes() == before
