"""The command ``rankwise``, put together from :mod:`rankwise.commands`."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from rankwise import __version__
from rankwise.commands import classify, contrast, detect, rank, recommend, retrieval
from rankwise.commands.app import App
from rankwise.commands.compare import CompareCommand, compare, report
from rankwise.commands.console import say
from rankwise.commands.drift import drift
from rankwise.commands.evaluate import evaluate
from rankwise.commands.fuse import fuse
from rankwise.commands.models import card, export
from rankwise.commands.objectives import objectives
from rankwise.commands.predict import predict
from rankwise.demo import demo
from rankwise.errors import short_repr

app = App(add_completion=True)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"rankwise {__version__}")
        raise typer.Exit


@app.callback()
def rankwise(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Train models on the ranking metric they are evaluated by."""


app.command(cls=CompareCommand)(compare)
for command in (report, evaluate, predict, fuse, drift, card, export, objectives, demo):
    app.command()(command)
for group in (contrast, recommend, rank, retrieval, classify, detect):
    app.add_typer(group.app, name=group.__name__.rpartition(".")[2])


def main() -> None:
    """Run the command line; :mod:`rankwise.__main__` is its entry point."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters gets "?"
    code = _ended(sys.argv[1:])
    if code and os.environ.get("WORLD_SIZE", "1") != "1":
        # One of several processes ends without the seconds that Python takes to clean up.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise SystemExit(code)


def _is_text(argument: str) -> bool:
    """Whether an argument can be written into a file; names of another encoding cannot."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _ended(arguments: list[str]) -> int:
    """The exit code; wrong usage is one line, as every other complaint is."""
    if (wrong := next((one for one in arguments if not _is_text(one)), None)) is not None:
        words = f"{short_repr(wrong)} is not UTF-8: rename the file, or set PYTHONUTF8=1"
        say([words], error=True, style="red")
        return 2
    try:
        code = app(arguments, prog_name="rankwise", standalone_mode=False)
    except typer.Abort:
        return 1
    except Exception as error:
        # Typer has these two of its own and of click's, by its version: known by what they can do.
        if not (hasattr(error, "exit_code") and hasattr(error, "format_message")):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]  # the help that was asked for by saying nothing
        else:
            context = getattr(error, "ctx", None)  # a flag with a value comes without
            where = "rankwise" if context is None else context.command_path
            line = f"{' '.join(error.format_message().split())} (see {where} --help)"
            say([line], error=True, style="red")
        return int(error.exit_code)
    return code if isinstance(code, int) else 0
