"""Where commands write, and how they refuse."""

from __future__ import annotations

import os
from typing import NoReturn

import typer
from rich.console import Console

__all__ = ["complaints", "paper", "refuse"]

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
    """One line on standard error, and the exit code of wrong usage."""
    complaints().print(message, style="red", highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(2) from None
