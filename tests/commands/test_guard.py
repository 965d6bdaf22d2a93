from __future__ import annotations

import pytest
import typer

from rankwise.commands.guard import guarded
from rankwise.data import DataError


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (DataError("a.csv: is\n  empty"), 2, "a.csv: is empty\n"),
        (ValueError("no\nscores"), 1, "ValueError: no scores; --debug shows where\n"),
        (OSError("disk full [x]"), 1, "OSError: disk full [x]; --debug shows where\n"),
    ],
)
def test_one_line_and_an_exit_code(capsys, error, code, line):
    with pytest.raises(typer.Exit) as done, guarded(debug=False):
        raise error
    assert done.value.exit_code == code
    assert capsys.readouterr().err == line


def test_debug_shows_the_traceback_before_the_line(capsys):
    with pytest.raises(typer.Exit) as done, guarded(debug=True):
        raise DataError("a.csv: is empty")
    assert done.value.exit_code == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback")
    assert shown.endswith("a.csv: is empty\n")


def test_an_exit_that_was_meant_stays(capsys):
    with pytest.raises(typer.Exit) as done, guarded(debug=False):
        raise typer.Exit(0)
    assert done.value.exit_code == 0
    assert capsys.readouterr().err == ""
