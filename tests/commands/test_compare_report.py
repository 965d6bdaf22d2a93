from __future__ import annotations

import hashlib
import json

import pytest
from tests.report.comparison.sample import grouped
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.training import RunFolder, require_unchanged

RUN = CliRunner()


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def test_writes_the_page_and_says_where(tmp_path):
    folder = grouped(tmp_path / "run")
    done = RUN.invoke(app, ["report", str(folder)])
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(folder / "index.html")
    assert "Gradient boosting, trained on NDCG" in (folder / "index.html").read_text()


@pytest.mark.parametrize("debug", [False, True])
def test_a_folder_that_is_no_run_is_one_line_and_2(tmp_path, debug):
    done = RUN.invoke(app, ["report", str(tmp_path), *(["--debug"] if debug else [])])
    assert done.exit_code == 2
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert "results.json is missing" in lines[-1]
    assert (len(lines) == 1) is not debug
    assert ("Traceback" in done.stderr) is debug
    assert not list(tmp_path.iterdir())


def test_a_page_that_cannot_be_written_is_a_failure(tmp_path):
    folder = grouped(tmp_path / "run")
    (folder / "index.html").mkdir()
    done = RUN.invoke(app, ["report", str(folder)])
    assert done.exit_code == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_without_a_folder_it_is_wrong_usage():
    assert RUN.invoke(app, ["report"]).exit_code == 2


@pytest.mark.parametrize("name", ["results.json", "config.json", "predictions.npz"])
def test_a_report_of_changed_files_is_refused(tmp_path, name):
    with RunFolder(tmp_path / "run", "compare").opened() as folder:
        grouped(folder.path)
        folder.finish()
    path = folder.path / name
    path.write_bytes(path.read_bytes() + b" ")
    done = RUN.invoke(app, ["report", str(folder.path)])
    assert done.exit_code == 2
    assert f"{name}: was changed or damaged" in " ".join(done.output.split())
    assert not (folder.path / "index.html").exists()


def test_the_record_of_a_run_has_the_report_that_was_written_again(tmp_path):
    with RunFolder(tmp_path / "run", "compare").opened() as folder:
        grouped(folder.path)
        (folder.path / "index.html").write_text("of an earlier version")
        folder.finish()
    assert RUN.invoke(app, ["report", str(folder.path)]).exit_code == 0
    found = json.loads((folder.path / "run.json").read_text())["parts"]["index.html"]
    assert found == [hashlib.sha256((folder.path / "index.html").read_bytes()).hexdigest()]
    require_unchanged(folder.path, "index.html")
