from __future__ import annotations

import json

import numpy as np
import pytest
from tests.tasks.compare.stubs import StubRanker, stubbed, table
from typer.testing import CliRunner

from rankwise.cli import app

__all__ = ["stubbed"]

RUN = CliRunner()
SMALL = ["--target", "y", "--trials", "1", "--candidates", "linear"]


@pytest.fixture(autouse=True)
def wide(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data(tmp_path):
    table().drop("user", "day").write_csv(tmp_path / "data.csv")
    return tmp_path / "data.csv"


def invoke(*arguments):
    return RUN.invoke(app, ["compare", *map(str, arguments)])


@pytest.mark.usefixtures("stubbed")
def test_it_prints_the_table_the_reason_and_where(tmp_path, data):
    done = invoke(data, *SMALL, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    for row in results["candidates"]:
        assert row["name"] in done.stdout
        assert f"{row['test']['value']:.4f}" in done.stdout
    assert done.stdout.count("★") == 1
    assert results["why"] in done.stdout
    lines = done.stdout.splitlines()
    assert lines[-1] == str(tmp_path / "run" / "index.html")
    assert lines[-2] == str(tmp_path / "run" / "model")
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (about["command"], about["finished"]) == ("rankwise compare", True)


@pytest.mark.usefixtures("stubbed")
def test_the_folder_is_named_after_the_data(tmp_path, data):
    assert invoke(data, *SMALL).exit_code == 0
    assert (tmp_path / "runs" / "data" / "results.json").exists()
    again = invoke(data, *SMALL)
    assert again.exit_code == 2
    assert "already holds a run; pass --resume" in again.stderr
    assert invoke(data, *SMALL, "--resume").exit_code == 0


@pytest.mark.usefixtures("stubbed")
def test_stopped_by_hand_it_says_how_to_go_on(tmp_path, data, monkeypatch):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    real = StubRanker._fit_scores
    monkeypatch.setattr(StubRanker, "_fit_scores", stop)
    done = invoke(data, *SMALL, "--out", tmp_path / "run")
    assert done.exit_code == 1
    assert "the same command with --resume continues" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "run" / "results.json").exists()
    monkeypatch.setattr(StubRanker, "_fit_scores", real)
    assert invoke(data, *SMALL, "--out", tmp_path / "run", "--resume").exit_code == 0


@pytest.mark.usefixtures("stubbed")
def test_a_failure_is_one_line_and_1(tmp_path, data, monkeypatch):
    monkeypatch.setattr(StubRanker, "_fit_scores", lambda self, data: {}["no"])
    done = invoke(data, *SMALL, "--out", tmp_path / "run")
    assert done.exit_code == 1
    assert "KeyError: 'no'; --debug shows where" in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert "Traceback" in invoke(data, *SMALL, "--out", tmp_path / "two", "--debug").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "z"], "there is no target column 'z'; the 5 columns are: a, b, c, word, y"),
        (["--target", "word", "--threshold", "recall>=.9"], "classes"),
        (["--target", "y", "--positive", "7"], "--positive must be one of them"),
        (["--target", "y", "--metric", "ndcg@10"], "with --group"),
        (["--target", "y", "--metric", "auk"], 'did you mean "auc"'),
        (
            ["--target", "y", "--budget", "long"],
            "--budget must be a time such as 90s, 2m or 1h, got 'long'",
        ),
        (["--target", "y", "--candidates", "tree"], "--candidates must be a list of"),
        (["--target", "y", "--group", "usr"], "there is no group column 'usr'"),
        ([], "needs --target"),
    ],
)
def test_bad_input_is_one_line_and_2_and_nothing_is_written(tmp_path, data, arguments, message):
    done = invoke(data, *arguments, "--out", tmp_path / "run")
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert done.stdout == ""
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,y\n", "no rows"),
        ("a,a,y\n1,2,0\n", "duplicate columns: 'a'"),
        ("a,y\n1,0\n2,0\n", "has one class only"),
        ("a,y\n1,\n2,\n3,\n", "the target 'y' has no value in any of 3 rows"),
        ("a,y\n" + "1,0\n" * 30 + "2,1\n" * 3, "at least 2 of each are needed"),
        ("a,y\n" + "1,0\n" * 30 + "1,1\n" * 30, "no column left to learn from; left out: a"),
    ],
)
def test_bad_files(tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    done = invoke(tmp_path / "bad.csv", "--target", "y", "--out", tmp_path / "run")
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert not (tmp_path / "run").exists()


def test_no_file(tmp_path):
    done = invoke(tmp_path / "none.csv", "--target", "y")
    assert done.exit_code == 2
    assert "there is no such file" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_seed_that_is_too_large_leaves_nothing(tmp_path, data):
    for more in (["--seed", "9" * 23], ["--seed", str(2**32 - 1), "--seeds", "2"]):
        done = invoke(data, *SMALL, *more, "--out", tmp_path / "run")
        assert done.exit_code == 2
        assert "seed" in done.output
        assert not (tmp_path / "run").exists()


def test_a_file_is_no_folder_of_a_run(data):
    done = invoke(data, *SMALL, "--out", data)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "--out must be a folder" in done.stderr


@pytest.mark.usefixtures("stubbed")
def test_what_drives_the_scores_and_the_verdict_are_printed(tmp_path, data):
    done = invoke(data, *SMALL, "--out", tmp_path / "run")
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    for row in results["importance"]["columns"]:
        assert any(
            line.split()[:2] == [row["name"], f"{row['mean']:+.4f}"]
            for line in done.stdout.splitlines()
        )
    assert results["verdict"].startswith("Nothing can be decided: the test part has 12 positives")
    assert results["verdict"] in done.stdout
    assert "--repeats 5" in done.stdout


@pytest.mark.usefixtures("stubbed")
def test_repeats_test_on_all_rows(tmp_path, data):
    done = invoke(data, *SMALL, "--repeats", "1", "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert "ap on 5-fold cross-validation of all rows × 1, 600 rows" in done.stdout
    assert "Nothing can be decided" not in done.stdout
    page = (tmp_path / "run" / "index.html").read_text()
    assert "on 5-fold cross-validation of all rows × 1, evaluated after the choice" in page


@pytest.mark.usefixtures("stubbed")
def test_what_the_budget_does_not_allow_is_announced_on_standard_error(tmp_path, data):
    done = invoke(data, *SMALL, "--budget", "0.001s", "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert "linear, ap: one trial takes about" in done.stderr
    assert "it is left out: pass --budget" in done.stderr
    assert "left out, too long for --budget: linear, ap" in done.stdout


@pytest.mark.usefixtures("stubbed")
def test_a_rule_chooses_a_threshold_on_the_test_part(tmp_path, data):
    out = tmp_path / "run"
    done = invoke(data, *SMALL, "--threshold", "recall>=0.8", "--out", out)
    assert done.exit_code == 0, done.output
    results = json.loads((out / "results.json").read_text())
    point, held = results["operating_point"], np.load(out / "predictions.npz")
    flagged = held[f"probability_{results['recommended']}"] > point["threshold"]
    assert point["flagged"] == flagged.sum()
    recall = held["target"][flagged].sum() / held["target"].sum()
    assert point["rates"]["recall"]["value"] == pytest.approx(recall)
    assert recall >= 0.8
    assert f"flags {flagged.sum()} test rows: precision" in done.stdout
    assert "recall&gt;=0.8" in (out / "index.html").read_text()
    evaluated = RUN.invoke(
        app,
        ["evaluate", str(out), "--threshold", "recall>=0.8", "--json", str(tmp_path / "e.json")],
    )
    assert evaluated.exit_code == 0, evaluated.output
    assert json.loads((tmp_path / "e.json").read_text())["operating_points"] == [point]
    # Another rule trains nothing again.
    done = invoke(data, *SMALL, "--threshold", "alerts<=10/100", "--out", out, "--resume")
    assert done.exit_code == 0, done.output
    again = json.loads((out / "results.json").read_text())
    assert again["operating_point"]["rule"] == "alerts<=10/100"
    assert again["candidates"] == results["candidates"]
