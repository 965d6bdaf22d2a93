from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest
from tests.tasks.compare.stubs import stubbed, table
from typer.testing import CliRunner

from rankwise.cli import app

__all__ = ["stubbed"]

RUN = CliRunner()
SMALL = ["--target", "y", "--trials", "1", "--candidates", "linear:log_loss"]

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
    assert pl.read_csv(out).columns == ["score", "probability", "in_training"]
    assert f"600 rows: {out}\n{printed.stderr}" == written.stderr  # the same remarks


def test_predict_refuses_in_one_line(tmp_path, data):
    pl.read_csv(data).drop("c").write_csv(tmp_path / "less.csv")
    pl.read_csv(data).with_columns(score=1).write_csv(tmp_path / "scored.csv")
    for model, rows, message in (
        ("run", "less.csv", "1 of the 4 columns of the model are missing: 'c'"),
        ("run", "none.csv", "there is no such file"),
        ("none", "data.csv", "there is no such model"),
        ("data.csv", "data.csv", "is not a model that Ranker.save wrote"),
        ("run/candidates", "data.csv", "holds no model that rankwise wrote"),
        ("run", "data.csv --keep a,wrod", "no --keep column 'wrod'; did you mean 'word'?"),
        ("run", "scored.csv --keep all", "--keep cannot keep the column 'score'"),
        ("run", "data.csv --part tset", "--part must be one of test, validation, train"),
        ("run/model", "data.csv --part test", "pass the folder of a run of `rankwise compare`"),
    ):
        path, *options = rows.split()
        arguments = ["predict", str(tmp_path / model), str(tmp_path / path), *options]
        done = RUN.invoke(app, [*arguments, "--out", str(tmp_path / "p.csv")])
        assert done.exit_code == 2, done.output
        assert message in done.stderr
        assert done.stderr.strip().count("\n") == 0
        assert not (tmp_path / "p.csv").exists()
    done = RUN.invoke(app, ["predict", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert "DATA is missing" in done.stderr


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_evaluating_rows_the_model_was_trained_on_says_so(tmp_path, data, kind):
    run, out = str(tmp_path / "run"), str(tmp_path / f"scores.{kind}")
    predicted = RUN.invoke(app, ["predict", run, str(data), "--keep", "y", "--out", out])
    assert predicted.exit_code == 0, predicted.output
    assert "480 of 600 rows (80.0 %) equal a row the model was trained on" in predicted.stderr
    assert predicted.stderr.count("\n") == 2  # and the file
    evaluated = RUN.invoke(app, ["evaluate", out, "--target", "y", "--score", "score"])
    assert evaluated.exit_code == 0, evaluated.output
    words = (
        "480 of 600 rows equal a row the model was trained on: these numbers are not an estimate"
    )
    assert words in evaluated.stdout


def test_evaluating_new_rows_says_nothing_of_training(tmp_path, data):
    new, out = tmp_path / "new.csv", str(tmp_path / "scores.csv")
    table(rows=100, seed=5).write_csv(new)
    predicted = RUN.invoke(
        app, ["predict", str(tmp_path / "run"), str(new), "--keep", "y", "--out", out]
    )
    assert (predicted.exit_code, predicted.stderr) == (0, f"100 rows: {out}\n")
    evaluated = RUN.invoke(app, ["evaluate", out, "--target", "y", "--score", "score"])
    assert evaluated.exit_code == 0, evaluated.output
    assert "trained on" not in evaluated.output


def test_the_test_part_of_a_run_has_the_numbers_of_the_run(tmp_path, data):
    run, out = str(tmp_path / "run"), str(tmp_path / "test.csv")
    predicted = RUN.invoke(app, ["predict", run, "--part", "test", "--keep", "y", "--out", out])
    assert (predicted.exit_code, predicted.stderr.count("\n")) == (0, 1)
    assert predicted.stderr.endswith(f" rows: {out}\n")
    found = []
    for arguments in ([run], [out, "--target", "y", "--score", "score"]):
        path = tmp_path / "numbers.json"
        done = RUN.invoke(app, ["evaluate", *arguments, "--json", str(path)])
        assert done.exit_code == 0, done.output
        found.append(json.loads(path.read_text()))
    assert found[0]["metrics"] == found[1]["metrics"]
    assert found[0]["candidate"] == "linear, log-loss"
    assert found[0]["rows"] == 120


def test_the_other_parts_of_a_run_were_trained_on(tmp_path, data):
    for part, rows in (("train", 360), ("validation", 120)):
        done = RUN.invoke(app, ["predict", str(tmp_path / "run"), "--part", part])
        assert done.exit_code == 0, done.output
        assert f"{rows} of {rows} rows (100.0 %) equal a row" in done.stderr


def test_a_part_is_refused_where_the_data_of_the_run_moved_or_changed(tmp_path, data):
    arguments = ["predict", str(tmp_path / "run"), "--part", "test"]
    moved = data.rename(tmp_path / "moved.csv")
    done = RUN.invoke(app, arguments)
    assert done.exit_code == 2
    assert "there is no such file" in done.stderr
    assert "pass its new place" in done.stderr
    done = RUN.invoke(app, [*arguments, str(moved), "--out", str(moved)])
    assert done.exit_code == 2
    assert "--out must be another file than" in done.stderr
    assert RUN.invoke(app, [*arguments, str(moved)]).exit_code == 0
    moved.write_text(moved.read_text().replace("red", "blue"))
    done = RUN.invoke(app, [*arguments, str(moved)])
    assert done.exit_code == 2
    assert "is not the file that the run" in done.stderr


PAGES = ("docs/tasks.md", "docs/tabular.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_documented_predict_and_evaluate_commands_run(tmp_path, monkeypatch, stubbed, page):
    text = (Path(__file__).parents[2] / page).read_text()
    (block,) = re.findall(r"^```\n(rankwise compare data\.csv.*?)^```", text, re.M | re.S)
    commands = [shlex.split(line, comments=True)[1:] for line in block.splitlines()]
    named = [command[0] for command in commands]
    assert named.index("compare") < named.index("predict") < len(named) - 1
    assert named[-2:] == ["predict", "evaluate"]  # the second reads what the first wrote
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    ids = pl.concat_str(pl.lit("row "), pl.int_range(pl.len()))
    for name, seed in (("data.csv", 0), ("new.csv", 5)):
        made = table(seed=seed).drop("user", "day").with_columns(id=ids).rename({"y": "fraud"})
        made.write_csv(name)
    quick = ["--trials", "1", "--candidates", "linear:log_loss"]
    for command in commands:
        done = RUN.invoke(app, command + (quick if command[0] == "compare" else []))
        assert done.exit_code == 0, (command, done.output)
        assert "a row the model was trained on" not in done.output  # warns nowhere
    assert pl.read_csv("scores.csv").columns == ["id", "fraud", "score", "probability"]
    assert re.search(r"^ ?auc +0\.[5-9]", done.stdout, re.M)
    assert "600 rows, 60 positives" in done.stdout


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
