"""How a command ends when something is wrong: one line, and an exit code."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from rankwise.commands.console import complaints
from rankwise.extras import missing_module

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@contextmanager
def guarded(*, debug: bool) -> Iterator[None]:
    """Errors as one line on standard error: 2 for bad input, 1 for a failure.

    With ``debug`` the traceback stands before the line.
    """
    try:
        yield
    except typer.Exit:
        raise
    except Exception as error:
        from rankwise.data import DataError  # noqa: PLC0415  (the other commands need no tables)

        if debug:
            shown = traceback.format_exc()
            complaints().print(shown, highlight=False, markup=False, soft_wrap=True)
        if isinstance(error, ModuleNotFoundError) and missing_module(error) is not None:
            raise  # the command names it, and the extra that has it
        bad_input = isinstance(error, DataError)
        words = str(error) if bad_input else f"{type(error).__name__}: {error}"
        hint = "" if bad_input or debug else "; --debug shows where"
        line = " ".join(words.split()) + hint
        complaints().print(line, style="red", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(2 if bad_input else 1) from None
