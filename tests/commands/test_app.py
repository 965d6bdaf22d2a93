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
