from __future__ import annotations

import runpy

import pytest


def test_the_package_run_as_a_program_is_the_command(monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["demo", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("rankwise.demo", run_name="__main__")
    assert not ended.value.code
    shown = capsys.readouterr().out
    assert "Usage: rankwise demo [OPTIONS]" in shown
    for option in ("--out", "--quick", "--seed"):
        assert option in shown


def test_importing_it_starts_nothing(capsys) -> None:
    runpy.run_module("rankwise.demo.__main__", run_name="imported")
    assert capsys.readouterr().out == ""
