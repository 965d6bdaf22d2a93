from __future__ import annotations

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from rankwise.cli import app, main


def test_the_commands_are_there():
    done = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "100"})
    assert done.exit_code == 0
    assert "study" in done.output
    assert "objectives" in done.output


def test_no_command_and_a_wrong_one_are_wrong_usage():
    assert CliRunner().invoke(app, []).exit_code == 2
    done = CliRunner().invoke(app, ["objective"])
    assert done.exit_code == 2
    assert "No such command" in done.output


def test_the_entry_point_reads_the_arguments(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["rankwise", "objectives", "--metrics"])
    with pytest.raises(SystemExit) as done:
        main()
    assert not done.value.code
    assert "precision@k" in capsys.readouterr().out


def test_a_terminal_without_greek_letters_is_no_error():
    done = subprocess.run(
        [sys.executable, "-m", "rankwise.cli", "objectives"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "100"},
        check=True,
    )
    assert b"compositional_auc" in done.stdout
    assert b"?" in done.stdout
    assert done.stdout.isascii()
    assert done.stderr == b""
