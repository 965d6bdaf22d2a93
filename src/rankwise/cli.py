"""The command ``rankwise``, put together from :mod:`rankwise.commands`."""

from __future__ import annotations

import io
import sys

import typer

from rankwise.commands import contrast, rank, recommend, retrieval
from rankwise.commands.compare import compare
from rankwise.commands.evaluate import evaluate
from rankwise.commands.objectives import objectives
from rankwise.commands.predict import predict
from rankwise.commands.report import report
from rankwise.commands.study import study

__all__ = ["app", "main"]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def rankwise() -> None:
    """Train models on the ranking metric they are judged by."""


for command in (compare, report, evaluate, predict, objectives, study):
    app.command()(command)
app.add_typer(contrast.app, name="contrast")
app.add_typer(recommend.app, name="recommend")
app.add_typer(rank.app, name="rank")
app.add_typer(retrieval.app, name="retrieval")


def main() -> None:
    """Entry point of the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters gets "?"
    app()


if __name__ == "__main__":
    main()
