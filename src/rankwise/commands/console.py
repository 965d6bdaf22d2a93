"""Where commands write, and how they refuse."""

from __future__ import annotations

import os
from typing import NoReturn

import typer
from rich.console import Console

_WIDTH = 100  # columns of a file or a pipe, which have no width of their own


def paper() -> Console:
    """Standard output."""
    console = Console(emoji=False)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(width=_WIDTH, emoji=False)


def complaints() -> Console:
    """Standard error."""
    return Console(stderr=True, emoji=False)


def refuse(message: str) -> NoReturn:
    """Print one line to standard error and exit with the code of wrong usage."""
    fail(message, code=2)


def fail(message: str, code: int = 1) -> NoReturn:
    """Print one red line to standard error and exit."""
    complaints().print(message, style="red", highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(code) from None
