"""Run without data, the study says which data it needs."""

from __future__ import annotations

from typer.testing import CliRunner

from reproductions.cli import app

RUN = CliRunner()


def test_without_data_it_says_what_would_be_right(tmp_path):
    done = RUN.invoke(app, ["papk-table3", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "--data with MovieLens' u.data" in done.stderr.replace("\n", " ")
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_not_there_is_named(tmp_path):
    arguments = ["papk-table3", "--data", str(tmp_path / "u.data")]
    done = RUN.invoke(app, [*arguments, "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "there is no such file" in done.stderr.replace("\n", " ")
