"""What the commands of tasks have in common: how they show, and how they end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.progress import Progress, ProgressColumn
from rich.table import Table as Shown

from rankwise.commands.console import complaints, fail, paper, refuse
from rankwise.commands.guard import guarded
from rankwise.settings import MAX_SEED

if TYPE_CHECKING:
    from rankwise.report import Table

Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed.")]


@contextmanager
def one_line(*, debug: bool, stopped: str = "stopped") -> Iterator[None]:
    """Wrong usage and bad input as one line and 2, a failure or Ctrl-C as one line and 1."""
    try:
        with guarded(debug=debug):
            try:
                yield
            except ValueError as error:
                from rankwise.errors import UsageError  # noqa: PLC0415  (only where needed)

                if debug or not isinstance(error, UsageError):
                    raise
                refuse(str(error))
    except KeyboardInterrupt:
        fail(stopped)


def progress_bar(*columns: ProgressColumn) -> Progress:
    """Return a bar on the terminal of standard error; a file or a pipe gets no empty line."""
    console = complaints()
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def show(table: Table) -> None:
    """A table on standard output, first column to the left."""
    shown = Shown(box=SIMPLE_HEAD, padding=0)
    for number, name in enumerate(table.header):
        if number:
            shown.add_column(name, justify="right", no_wrap=True)
        else:  # where there is little room a name folds: a value cut short would be another value
            shown.add_column(name, overflow="fold")
    for row in table.rows:
        shown.add_row(*map(str, row))
    paper().print(shown)
    say([table.caption])


def say(lines: Iterable[str], *, error: bool = False) -> None:
    """Lines as they are."""
    console = complaints() if error else paper()
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def names_of(option: str, text: str) -> list[str]:
    """Names separated by commas outside of parentheses."""
    from rankwise.errors import UsageError  # noqa: PLC0415

    names, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    found = [name.strip() for name in names if name.strip()]
    if not found:
        raise UsageError(f"--{option} must name at least one, separated by commas, got {text!r}")
    return found
