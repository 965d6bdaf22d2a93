"""The Typer that ``rankwise`` and its groups are made of: how commands start and show flags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from rankwise.commands.console import refuse
from rankwise.commands.options import with_options
from rankwise.extras import COMMANDS, missing, missing_module, sentence

_Function = TypeVar("_Function", bound=Callable[..., None])


class Command(TyperCommand):
    """A command that names the packages it misses, and shows its flags as flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _flags_without_type(super().get_params(ctx))

    def invoke(self, ctx: Any) -> object:
        # The word after rankwise: the group of a command, or the command itself.
        name = next((word for word in ctx.command_path.split() if word in COMMANDS), ctx.info_name)
        absent = missing(COMMANDS[name][1] if name in COMMANDS else ())
        if absent:
            refuse(sentence(f"rankwise {name}", absent))
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:  # of an option that needs more
            module = missing_module(error)
            if module is None:
                raise
            refuse(sentence(f"rankwise {name}", [module]))


class _Group(TyperGroup):
    """A group of commands that shows its flags as flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _flags_without_type(super().get_params(ctx))


class App(typer.Typer):
    """A ``typer.Typer`` whose commands and groups are the two above."""

    def __init__(self, **options: Any) -> None:
        settings = {"add_completion": False, "pretty_exceptions_enable": False} | options
        super().__init__(cls=_Group, no_args_is_help=True, **settings)

    def command(
        self, name: str | None = None, *, stopped: str = "stopped", **options: Any
    ) -> Callable[[_Function], _Function]:
        """Add a command with the options of its settings (:func:`with_options`)."""
        add = super().command(name, **{"cls": Command, **options})

        def decorate(function: _Function) -> _Function:
            add(with_options(function, stopped))
            return function

        return decorate


def _flags_without_type(params: list[Any]) -> list[Any]:
    """Typer shows ``<bool>`` after a flag, as if it took a value, unless its metavar is empty."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params
