"""Tests of the output of the commands."""

from __future__ import annotations

import errno
import math
import os
import signal
from pathlib import Path

import pytest
import typer

from rankwise.commands.console import (
    complaints,
    one_line,
    paper,
    refuse,
    require_folder,
    require_other,
    say,
    show,
    steps_shown,
)
from rankwise.commands.options import names_of
from rankwise.data import DataError
from rankwise.errors import UsageError
from rankwise.report import Table
from rankwise.training import Step


def test_a_pipe_has_a_hundred_columns_unless_told(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert paper().width == 100
    monkeypatch.setenv("COLUMNS", "70")
    assert paper().width == 70


def test_refusing_is_one_line_on_standard_error(capsys):
    message = 'no objective is called "[x]": ' + "word " * 60
    with pytest.raises(typer.Exit) as done:
        refuse(message)
    assert done.value.exit_code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"{message}\n"
    assert complaints().stderr


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (DataError("a.csv: is\n  empty"), 2, "a.csv: is empty\n"),
        (ValueError("no\nscores"), 1, "ValueError: no scores; --debug shows where\n"),
        (
            RuntimeError("DataLoader worker (pid 7) is killed by signal: Killed. "),
            1,
            "a process that loads images was killed, often because the memory was full; run the "
            "command again with fewer --workers (a training with --resume, too)\n",
        ),
        (OSError("disk full [x]"), 1, "OSError: disk full [x]; --debug shows where\n"),
    ],
)
def test_one_line_and_an_exit_code(capsys, error, code, line):
    with pytest.raises(typer.Exit) as done, one_line(debug=False):
        raise error
    assert done.value.exit_code == code
    assert capsys.readouterr().err == line


def test_debug_shows_the_traceback_before_the_line(capsys):
    with pytest.raises(typer.Exit) as done, one_line(debug=True):
        raise DataError("a.csv: is empty")
    assert done.value.exit_code == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback")
    assert shown.endswith("a.csv: is empty\n")


def test_an_exit_that_was_meant_stays(capsys):
    with pytest.raises(typer.Exit) as done, one_line(debug=False):
        raise typer.Exit(0)
    assert done.value.exit_code == 0
    assert capsys.readouterr().err == ""


def test_names_are_parted_outside_of_parentheses():
    assert names_of("metrics", "ndcg@10, opauc(min_fpr=0, max_fpr=.1) ,,ap") == [
        "ndcg@10",
        "opauc(min_fpr=0, max_fpr=.1)",
        "ap",
    ]
    with pytest.raises(UsageError, match="--metrics must name at least one"):
        names_of("metrics", " ,")


@pytest.mark.parametrize(
    ("error", "code"), [(UsageError("wrong\n here"), 2), (RuntimeError("broken"), 1)]
)
def test_errors_end_in_one_line(error, code, capsys):
    with pytest.raises(typer.Exit) as done, one_line(debug=False):
        raise error
    assert done.value.exit_code == code
    shown = capsys.readouterr().err.strip()
    assert len(shown.splitlines()) == 1
    assert shown.startswith("wrong here" if code == 2 else "RuntimeError: broken")


def test_ctrl_c(capsys):
    with pytest.raises(typer.Exit), one_line(debug=False, stopped="go on with --resume"):
        raise KeyboardInterrupt
    assert capsys.readouterr().err.strip() == "go on with --resume"


def test_sigterm_is_treated_like_ctrl_c(capsys):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(typer.Exit), one_line(debug=False, stopped="resume with --resume"):
        os.kill(os.getpid(), signal.SIGTERM)
    assert capsys.readouterr().err.strip() == "resume with --resume"
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_full_disk_is_named(capsys):
    with pytest.raises(typer.Exit), one_line(debug=False):
        raise OSError(errno.ENOSPC, "No space left on device", "runs/a/model.safetensors")
    shown = capsys.readouterr().err.strip()
    assert shown.startswith("the disk is full: runs/a/model.safetensors could not be written")


def test_tables_and_lines(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    show(Table(("metric", "model"), [("ndcg@10", 0.5)], "over 3 users"))
    say(["[red] is no color"])
    shown = capsys.readouterr().out
    for words in ("metric", "0.5", "over 3 users", "[red] is no color"):
        assert words in shown


def refused(capsys, check, *arguments):
    with pytest.raises(typer.Exit) as done:
        check(*arguments)
    assert done.value.exit_code == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_folder_that_is_or_can_be(tmp_path):
    require_folder(tmp_path)
    require_folder(tmp_path / "a" / "b")
    assert not list(tmp_path.iterdir())


def test_a_folder_named_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    require_folder(Path("runs/a"))
    require_folder(Path())


@pytest.mark.parametrize("below", [(), ("a", "b")])
def test_a_file_is_no_folder(tmp_path, capsys, below):
    path = tmp_path / "file"
    path.write_text("kept")
    out = path.joinpath(*below)
    line = refused(capsys, require_folder, out)
    assert line == f"--out must be a folder, got {out}: {path} is none"
    assert path.read_text() == "kept"


def test_a_link_to_nowhere_is_no_folder(tmp_path, capsys):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert "is none" in refused(capsys, require_folder, tmp_path / "link")


def test_a_folder_that_cannot_be_written_into(capsys):
    line = refused(capsys, require_folder, Path("/proc/rankwise/run"))
    assert line.startswith("--out must be a folder that can be written into, got /proc/rankwise")


def test_a_name_that_no_folder_can_have(tmp_path, capsys):
    assert "File name too long" in refused(capsys, require_folder, tmp_path / ("a" * 300))


def test_what_is_read_is_not_written(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = Path("a.csv")
    data.write_text("")
    Path("link.csv").symlink_to(data)
    os.link(data, "second.csv")
    for same in (data, Path("./a.csv"), data.resolve(), Path("link.csv"), Path("second.csv")):
        line = refused(capsys, require_other, "--json", same, None, Path("no.csv"), data)
        assert line == f"--json must be another file than a.csv, which is read, got {same}"


def test_other_files_may_be_written(tmp_path):
    data = tmp_path / "a.csv"
    data.write_text("")
    require_other("--out", None, data)
    require_other("--out", tmp_path / "b.csv", data, None)
    require_other("--out", data, None, tmp_path / "b.csv", Path("u1," * 300))


@pytest.mark.parametrize(("columns", "apart"), [(80, 2), (17, 1)])
def test_columns_are_two_spaces_apart_where_there_is_room(monkeypatch, capsys, columns, apart):
    monkeypatch.setenv("COLUMNS", str(columns))
    show(Table(["column", "rows"], [["airport", "1234567"]]))
    assert f"airport{' ' * apart}1234567" in capsys.readouterr().out


@pytest.mark.parametrize("steps", [3, None])
def test_the_bar_takes_steps_before_and_after_the_first_validation(steps, monkeypatch):
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    with steps_shown("{task.fields[epoch]}", "{task.fields[value]}", steps) as advance:
        advance(Step(1, 1, 1, 2, 0.5, math.nan))
        advance(Step(3, 2, 1, 2, 0.25, 0.75))


class _Panic(BaseException):
    """As polars raises it: no Exception."""


def test_a_panic_of_a_library_ends_in_one_line(capsys):
    with pytest.raises(typer.Exit) as done, one_line(debug=False):
        raise _Panic("index out of\nbounds")
    assert done.value.exit_code == 1
    said = " ".join(capsys.readouterr().err.split())
    assert said == "_Panic: index out of bounds; --debug shows where"


def test_the_end_of_the_process_passes():
    with pytest.raises(SystemExit), one_line(debug=False):
        raise SystemExit(3)
