"""The page of the command line: every command with its arguments and options, from the program."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

import typer.main

from docs.hooks.public_names import ROOT

_LEFT_OUT = ("help", "install_completion", "show_completion", "version")


def command_page() -> tuple[str, str]:
    """Return the path of the page and its text."""
    sys.path.insert(0, str(ROOT / "src"))  # this tree, wherever rankwise is installed from
    from rankwise.cli import app  # noqa: PLC0415  (only after the line above)

    program = typer.main.get_command(app)
    intro = "Every command and every option. `rankwise COMMAND --help` prints the same."
    lines = ["# Command line", intro, *_sections(program, "rankwise", 2)]
    return "reference/commands.md", "\n\n".join(lines) + "\n"


def _sections(command: Any, name: str, level: int) -> Iterator[str]:
    subcommands = getattr(command, "commands", {})
    for key, each in subcommands.items():
        path = f"{name} {key}"
        about = inspect.cleandoc(each.help or "").replace("\b", "")
        yield f"{'#' * level} {path}"
        yield about
        if not getattr(each, "commands", None):
            yield _table(each.params)
        yield from _sections(each, path, level + 1)


def _table(params: list[Any]) -> str:
    rows = [_row(each) for each in params if each.name not in _LEFT_OUT]
    return "\n".join(["| option | default | description |", "|---|---|---|", *rows])


def _row(param: Any) -> str:
    is_argument = param.param_type_name == "argument"
    shown = param.name.upper() if is_argument else ", ".join([*param.opts, *param.secondary_opts])
    default = "required" if param.required else _default(param.default)
    about = " ".join((getattr(param, "help", None) or "").split()).replace("|", "\\|")
    return f"| `{shown}` | {default} | {about} |"


def _default(value: Any) -> str:
    if value is None or value is False or callable(value) or value in ([], (), ""):
        return "–"
    return f"`{value}`"
