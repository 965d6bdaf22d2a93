from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.command_line import commands, groups
from typer.testing import CliRunner

from rankwise import __version__
from rankwise.cli import app, main
from rankwise.extras import EXTRAS

HEAVY = {"torch", "numpy", "pandas"} | {
    module for extra, modules in EXTRAS.items() if extra != "cli" for module in modules
}


def test_the_commands_are_there():
    done = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "100"})
    assert done.exit_code == 0
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
        [sys.executable, "-m", "rankwise", "objectives"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "100"},
        check=True,
    )
    assert b"compositional_auc" in done.stdout
    assert b"?" in done.stdout
    assert done.stdout.isascii()
    assert done.stderr == b""


@pytest.mark.parametrize("command", [["rank", "train"], ["compare", "--target", "y"]])
def test_a_name_that_is_no_utf_8_is_one_line(command, monkeypatch, capsys):
    # What Python makes of a name of another encoding, and of any umlaut where the locale is ASCII.
    monkeypatch.setattr("sys.argv", ["rankwise", *command, os.fsdecode(b"t\xe4ble.csv")])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 2
    assert "is not UTF-8: rename the file, or set PYTHONUTF8=1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["compare", "--nope", "x"], "No such option: --nope"),
        (["evaluat"], "No such command 'evaluat'"),
        (["compare", "--debug=3"], "Option '--debug' does not take a value. (see rankwise --help)"),
        (["rank", "evaluate", "--top", "many"], "(see rankwise rank evaluate --help)"),
    ],
)
def test_wrong_usage_is_one_line(monkeypatch, capsys, arguments, line):
    monkeypatch.setattr("sys.argv", ["rankwise", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert line in said.err
    assert said.err.count("\n") == 1


def test_nothing_asked_is_answered_by_the_help(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["rankwise", "rank"])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 2
    said = capsys.readouterr()
    assert "evaluate" in said.out + said.err


def test_a_failure_that_is_no_usage_is_raised(monkeypatch):
    monkeypatch.setattr("rankwise.cli.app", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main()


def test_the_version_is_that_of_the_package():
    done = subprocess.run(
        [sys.executable, "-m", "rankwise", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"rankwise {__version__}\n"
    assert done.stderr == ""


def test_no_help_waits_for_a_heavy_import():
    code = f"""
import sys
from tests.command_line import commands, groups
from typer.testing import CliRunner
from rankwise.cli import app
for path, _ in [*groups(app), *commands(app)]:
    done = CliRunner().invoke(app, [*path, "--help"])
    loaded = {HEAVY} & set(sys.modules)
    print(*path, done.exit_code, "Usage" in done.output, *loaded)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    paths = [path for path, _ in [*groups(app), *commands(app)]]
    assert done.stdout.splitlines() == [" ".join((*path, "0 True")) for path in paths]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (["comp"], ["compare"]),
        (["compare", "--bud"], ["--budget"]),
        (["retrieval", "train", "--s"], ["--set", "--skip-broken"]),
    ],
)
def test_the_shell_completes_commands_and_options(typed, completed):
    words = {"COMP_WORDS": " ".join(["rankwise", *typed]), "COMP_CWORD": str(len(typed))}
    done = subprocess.run(
        [sys.executable, "-m", "rankwise"],
        env={**os.environ, "_RANKWISE_COMPLETE": "complete_bash", **words},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == completed


def test_the_help_has_the_options_that_install_completion():
    done = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "100"})
    assert "--install-completion" in done.output
    assert "--show-completion" in done.output
