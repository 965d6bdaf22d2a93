from __future__ import annotations

import pytest
import typer

from rankwise.commands.console import complaints, paper, refuse


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
