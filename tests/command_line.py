"""Every command of ``rankwise``, for tests that try them all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

__all__ = ["commands", "groups", "least_arguments", "parse"]


def _walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _walk(inner, (*path, name))


def commands(app: typer.Typer) -> list[tuple[tuple[str, ...], Any]]:
    """The words and the command of everything that can be run."""
    found = _walk(typer.main.get_command(app), ())
    return [(path, command) for path, command in found if not hasattr(command, "commands")]


def groups(app: typer.Typer) -> list[tuple[tuple[str, ...], Any]]:
    """The words and the command of everything that only has commands, ``rankwise`` first."""
    found = _walk(typer.main.get_command(app), ())
    return [(path, command) for path, command in found if hasattr(command, "commands")]


def least_arguments(command: Any) -> list[str]:
    """A value for everything that has to be given."""
    required = [param for param in command.params if param.required]
    options = [word for p in required if p.param_type_name == "option" for word in (p.opts[0], "x")]
    return [*options, *("x" for p in required if p.param_type_name == "argument")]


def parse(app: typer.Typer, words: list[str]) -> dict[str, Any]:
    """Parse a command line without running it; raise what the parser raises."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("command", list(words))
    while hasattr(command, "resolve_command"):
        rest = [*context._protected_args, *context.args]
        if not rest:  # the bare list of studies
            return {}
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)
    found: dict[str, Any] = context.params
    return found
