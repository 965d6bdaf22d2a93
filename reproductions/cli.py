"""``python -m reproductions``: run a study of the papers' claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import torch
import typer
from rich.box import SIMPLE_HEAD
from rich.progress import track
from rich.table import Table as Shown

from rankwise.commands.console import complaints, paper, refuse
from rankwise.commands.guard import Debug
from rankwise.commands.outputs import require_folder, require_other
from rankwise.commands.shared import Seed, one_line
from rankwise.report import Table
from reproductions.base import Setting
from reproductions.registry import STUDIES, UnknownStudyError, run_study

__all__ = ["app", "main", "study"]

_Item = TypeVar("_Item")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def study(  # noqa: PLR0917  (a command line is called by names)
    name: Annotated[
        str | None, typer.Argument(help="Name of the study; without it the studies are listed.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Output folder; the study writes into a subfolder of its name.")
    ] = Path("out"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Short form of the study: less data, fewer repeats.")
    ] = False,
    seed: Seed = 0,
    draws: Annotated[
        int | None, typer.Option(min=2, help="Number of repeats of the random part.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Data file or folder, for a study that needs one.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Run a study of the papers' claims and write its data, figures and report."""
    console = paper()
    if name is None:
        console.print(_list_of_studies())
        return

    torch.set_num_threads(1)  # the tensors of the studies are too small to share

    def shown(work: Sequence[_Item], doing: str) -> Iterable[_Item]:
        return track(work, description=doing, console=complaints(), transient=True)

    setting = Setting(seed=seed, quick=quick, draws=draws, track=shown, data=data)
    with one_line(debug=debug):
        require_folder(out / name)
        require_other("data.csv in --out", out / name / "data.csv", data)
        try:
            result = run_study(name, out, setting)
        except UnknownStudyError as error:
            refuse(str(error))
    console.print(_shown(result.table))
    console.print(str(result.page), style="bold", highlight=False, markup=False, soft_wrap=True)


def _list_of_studies() -> Shown:
    table = Shown("study", "question", "time", "data", box=SIMPLE_HEAD, pad_edge=False)
    for name, study in STUDIES.items():
        table.add_row(name, study.question, study.time, study.data)
    return table


def _shown(table: Table) -> Shown:
    shown = Shown(caption=table.caption or None, box=SIMPLE_HEAD, padding=0)
    for number, name in enumerate(table.header):
        shown.add_column(name, justify="right" if number else "left", no_wrap=not number)
    for row in table.rows:
        shown.add_row(*map(str, row))
    return shown


def main() -> None:
    """Run the command with the arguments of the process."""
    app(prog_name="python -m reproductions")
