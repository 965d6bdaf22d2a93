from __future__ import annotations

import runpy
import shlex
from pathlib import Path

import pytest

from rankwise import demo


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch) -> Path:
    """The demo writes below the folder that it is started in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def handed(monkeypatch) -> list[list[str]]:
    """What is handed to the command line, which does nothing with it."""
    given: list[list[str]] = []
    monkeypatch.setattr(demo, "app", given.append)
    return given


def test_the_package_run_as_a_program_is_the_demo(handed, capsys) -> None:
    runpy.run_module("rankwise.demo", run_name="__main__")
    (given,) = handed
    assert given[:2] == ["compare", str(demo.DATA)]
    assert given[given.index("--target") + 1] == "damage"
    assert given[given.index("--out") + 1] == str(Path("runs") / "demo")
    shown = capsys.readouterr().out.strip()
    assert shlex.split(shown) == ["$", "rankwise", *given]


def test_an_earlier_run_in_its_folder_makes_way(handed, elsewhere) -> None:
    earlier = elsewhere / "runs" / "demo"
    earlier.mkdir(parents=True)
    (earlier / "config.json").write_text("{}")
    runpy.run_module("rankwise.demo", run_name="__main__")
    assert len(handed) == 1
    assert not earlier.exists()


@pytest.mark.parametrize("code", [0, 2])
def test_it_ends_with_the_exit_code_of_the_comparison(monkeypatch, code) -> None:
    def ended(given: list[str]) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(demo, "app", ended)
    with pytest.raises(SystemExit) as left:
        runpy.run_module("rankwise.demo", run_name="__main__")
    assert left.value.code == code


def test_a_folder_that_holds_no_run_is_left_alone(handed, elsewhere) -> None:
    letter = elsewhere / "runs" / "demo" / "letter.txt"
    letter.parent.mkdir(parents=True)
    letter.write_text("mine")
    runpy.run_module("rankwise.demo", run_name="__main__")
    assert len(handed) == 1
    assert letter.read_text() == "mine"


def test_importing_it_starts_nothing(handed, capsys) -> None:
    runpy.run_module("rankwise.demo.__main__", run_name="imported")
    assert handed == []
    assert capsys.readouterr().out == ""
