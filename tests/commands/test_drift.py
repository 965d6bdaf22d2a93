from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from rankwise.cli import app

RUN = CliRunner()


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    for name, shift in (("before", 0.0), ("after", 1.0)):
        y = rng.integers(0, 2, 200)
        frame = pl.DataFrame({"y": y, "score": y + shift + rng.normal(size=200)})
        frame.write_csv(tmp_path / f"{name}.csv")
    return str(tmp_path / "before.csv"), str(tmp_path / "after.csv")


def test_a_table_a_verdict_and_files(files, tmp_path):
    out, table = tmp_path / "out.json", tmp_path / "out.csv"
    asked = ["--target", "y", "--threshold", "0.5", "--threshold", "2", "--metric", "auc"]
    done = RUN.invoke(app, ["drift", *files, *asked, "--json", str(out), "--out", str(table)])
    assert done.exit_code == 0, done.output
    assert "The scores have changed" in done.stdout
    numbers = json.loads(out.read_text())
    names = [each["what"] for each in numbers["changes"]]
    assert names[-4:] == ["share from 0.5 on", "share from 2 on", "share of positives", "auc"]
    for each in numbers["changes"]:
        assert f"{each['difference']:+.4f}" in done.stdout
    assert pl.read_csv(table)["what"].to_list() == ["ks", "psi", *names]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metric", "auc"], "metrics need labels"),
        (["--score", "s"], "there is no score column 's'"),
        (["--target", "y", "--metric", "app"], 'did you mean "ap"?'),
    ],
)
def test_bad_input_is_one_line_and_2(files, arguments, message):
    done = RUN.invoke(app, ["drift", *files, *arguments])
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("more", [[], ["--target", "y"]])
def test_rows_that_were_trained_on_are_reported(files, tmp_path, monkeypatch, more):
    monkeypatch.setenv("COLUMNS", "400")
    assert "trained on" not in RUN.invoke(app, ["drift", *files, *more]).output
    marked = pl.read_csv(files[0]).with_columns(in_training=pl.int_range(200) < 7)
    marked.write_csv(files[0])
    out = tmp_path / "out.json"
    done = RUN.invoke(app, ["drift", *files, *more, "--json", str(out)])
    assert done.exit_code == 0, done.output
    assert "before.csv: 7 of 200 rows equal a row the model was trained on" in done.stdout
    assert done.stdout.count("trained on") == 1
    numbers = json.loads(out.read_text())
    assert numbers["rows_trained_on_before"] == 7
    assert numbers["rows_trained_on_after"] is None


def test_the_scores_are_not_written_over(files):
    for option in ("--out", "--json"):
        done = RUN.invoke(app, ["drift", *files, option, files[1]])
        assert done.exit_code == 2
        assert f"{option} must be another file than" in done.stderr
