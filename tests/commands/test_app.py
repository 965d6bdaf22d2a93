from __future__ import annotations

from typing import Annotated

import pytest
import typer
from tests.command_line import commands, groups
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.commands.app import App

RUN = CliRunner(env={"COLUMNS": "200"})


@pytest.mark.parametrize("path", [path for path, _ in [*groups(app), *commands(app)]], ids=" ".join)
def test_flags_are_shown_as_flags_by_every_help(path):
    shown = RUN.invoke(app, [*path, "--help"])
    assert shown.exit_code == 0
    assert "--help" in shown.output
    assert "<bool>" not in shown.output


def test_a_switch_is_shown_with_its_two_names_and_other_options_with_their_type():
    small = App()

    @small.command()
    def run(
        fast: Annotated[bool, typer.Option(help="Be quick.")] = True,
        size: Annotated[int, typer.Option(help="Rows.")] = 3,
    ) -> None:
        print(fast, size)

    lines = RUN.invoke(small, ["--help"]).output.splitlines()
    assert next(line.split()[1:-1] for line in lines if "--fast" in line) == [
        "--fast", "--no-fast", "Be", "quick.", "[default:", "fast]"]  # fmt: skip
    assert "<int>" in next(line for line in lines if "--size" in line)
    assert RUN.invoke(small, ["--no-fast", "--size", "5"]).output == "False 5\n"


def test_the_docstring_has_the_help_of_parameters_without_one():
    small = App()

    @small.command()
    def run(data: str, top_k: int = 3, be_quick: bool = False) -> None:
        """Run it.

        Args:
            data: Table: csv
                or parquet.
            top_k: Rows.
            be_quick: Skip the rest.
        """
        print(data, top_k, be_quick)

    shown = RUN.invoke(small, ["--help"]).output
    assert "Args" not in shown
    assert "Run it." in shown
    assert "Table: csv or parquet." in shown
    lines = shown.splitlines()
    assert "Rows. [default: 3]" in next(line for line in lines if "--top-k" in line)
    assert "Skip the rest." in next(line for line in lines if "--be-quick" in line)
    assert "--no-be-quick" not in shown
    assert RUN.invoke(small, ["a.csv", "--top-k", "5", "--be-quick"]).output == "a.csv 5 True\n"


def panels(path):
    """The options of a help by the title of their panel."""
    found, title = {}, None
    for line in RUN.invoke(app, [*path, "--help"]).output.splitlines():
        if line.startswith("╭─"):
            title = line.split()[1]
            found[title] = []
        elif line.startswith("│ --"):
            found[title].append(line.split()[1])
    return found


def test_a_long_help_begins_with_the_options_of_a_first_run():
    shown = panels(["compare"])
    assert shown["Options"] == [
        "--target",
        "--metric",
        "--threshold",
        "--budget",
        "--out",
        "--help",
    ]
    assert {"--time", "--group", "--drop"} <= set(shown["Data"])
    assert {"--resume", "--ray", "--debug"} <= set(shown["Run"])
    shown = panels(["recommend", "train"])
    assert len(shown["Options"]) <= 7
    assert {"--learning-rate", "--epochs", "--schedule"} <= set(shown["Training"])
    assert {"--dimension", "--start"} <= set(shown["Model"])


def test_a_panel_has_several_options():
    shown = panels(["evaluate"])
    assert "Training" not in shown
    assert "--correction" in shown["Options"]


def test_a_short_help_has_one_panel():
    assert list(panels(["predict"])) == ["Arguments", "Options"]


@pytest.mark.parametrize("path", [path for path, _ in commands(app)], ids=" ".join)
def test_no_help_begins_with_more_options_than_fit_on_a_screen(path):
    assert len(panels(path)["Options"]) <= 11
