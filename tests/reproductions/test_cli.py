from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from reproductions.cli import app
from reproductions.frame import STUDIES

RUN = CliRunner()


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def test_a_quick_study_writes_its_page_and_says_where(tmp_path):
    done = RUN.invoke(app, ["stability", "--quick", "--draws", "2", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    page = tmp_path / "stability" / "index.html"
    assert page.exists()
    assert str(page) in done.output.replace("\n", "")
    assert "plain AP" in done.output


def test_a_quick_estimator_bias(tmp_path):
    arguments = ["estimator-bias", "--quick", "--draws", "10", "--seed", "4"]
    done = RUN.invoke(app, [*arguments, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "binormal" in done.output
    assert "seed 4" in (tmp_path / "estimator-bias" / "index.html").read_text()


def test_a_wrong_name_suggests_the_right_one_and_exits_with_2(tmp_path):
    done = RUN.invoke(app, ["estimater-bias", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "did you mean 'estimator-bias'?" in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not list(tmp_path.iterdir())


def test_without_a_name_the_studies_are_listed_with_time_and_data():
    done = RUN.invoke(app, [])
    assert done.exit_code == 0
    assert all(name in done.output for name in STUDIES)
    (line,) = (line for line in done.output.splitlines() if "papk-table3" in line)
    assert "30 min" in line
    assert "MovieLens 100K" in line
    assert "--quick" in RUN.invoke(app, ["--help"]).output


@pytest.mark.parametrize("name", ["papk-figure1", "why-the-metric-matters"])
def test_draws_are_refused_where_nothing_is_repeated(name, tmp_path):
    done = RUN.invoke(app, [name, "--draws", "5", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "No such option: --draws" in done.output
    assert not list(tmp_path.iterdir())
    assert "--draws" not in RUN.invoke(app, [name, "--help"]).output
    assert "--draws" in RUN.invoke(app, ["retrieval", "--help"]).output


def test_studies_are_named_without_loading_matplotlib():
    code = "import sys, reproductions.frame; print(*({'matplotlib', 'typer'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", ["", "papk-figure1"])
def test_a_file_in_place_of_the_folder_is_one_line_and_2(tmp_path, name):
    out = tmp_path / "out"
    path = out / name if name else out
    path.parent.mkdir(exist_ok=True)
    path.write_text("kept")
    done = RUN.invoke(app, ["papk-figure1", "--quick", "--out", str(out)])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "--out must be a folder" in done.stderr
    assert path.read_text() == "kept"


def test_a_failure_is_one_line_and_1_and_debug_shows_where(tmp_path, monkeypatch):
    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("reproductions.cli.run_study", fail)
    arguments = ["stability", "--quick", "--out", str(tmp_path)]
    done = RUN.invoke(app, arguments)
    assert done.exit_code == 1
    assert done.stderr == "OSError: disk full; --debug shows where\n"
    assert "Traceback" in RUN.invoke(app, [*arguments, "--debug"]).stderr


def test_data_named_as_a_file_of_the_study_are_kept(tmp_path):
    data = tmp_path / "papk-table3" / "data.csv"
    data.parent.mkdir()
    data.write_text("kept")
    arguments = ["papk-table3", "--quick", "--data", str(data), "--out", str(tmp_path)]
    done = RUN.invoke(app, arguments)
    assert done.exit_code == 2
    assert "data.csv in --out must be another file than" in done.stderr
    assert data.read_text() == "kept"


def test_the_settings_of_a_study_are_options(tmp_path):
    shown = RUN.invoke(app, ["saturation", "--help"]).output
    assert "--steps" in shown
    assert "full: 400; quick: 120" in shown
    assert "annealed gain" in shown
    arguments = ["saturation", "--out", str(tmp_path), "--items", "300", "--prior", "0.2"]
    done = RUN.invoke(app, [*arguments, "--batch=50", "--steps=2", "--every=1", "--repeats=2"])
    assert done.exit_code == 0, done.output
    summary = json.loads((tmp_path / "saturation" / "summary.json").read_text())
    assert summary["plan"]["items"] == 300
    wrong = RUN.invoke(app, ["stability", "--sizes", "1,x", "--out", str(tmp_path)])
    assert wrong.exit_code == 2
    assert "--sizes must be int values separated by commas, got '1,x'" in wrong.stderr


def test_fresh_measures_again(tmp_path):
    arguments = ["why-the-metric-matters", "--out", str(tmp_path)]
    kept = tmp_path / "why-the-metric-matters" / "runs.json"
    kept.parent.mkdir()
    kept.write_text("damaged")
    assert RUN.invoke(app, [*arguments, "--fresh"]).exit_code == 0
    assert not kept.exists()
