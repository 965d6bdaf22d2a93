"""``rankwise study``: the papers' claims, run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.box import SIMPLE_HEAD
from rich.progress import track
from rich.table import Table as Shown

from rankwise.commands.console import complaints, paper, refuse
from rankwise.commands.guard import Debug
from rankwise.commands.outputs import require_folder, require_other
from rankwise.commands.shared import Seed, one_line

if TYPE_CHECKING:
    from rankwise.report import Table

__all__ = ["study"]

_Item = TypeVar("_Item")


def study(  # noqa: PLR0917  (a command line is called by names)
    name: Annotated[str | None, typer.Argument(help="Which study; --list shows them.")] = None,
    out: Annotated[Path, typer.Option(help="Folder to write into; the study gets its own.")] = Path(
        "out"
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="A small run, to see that it works.")
    ] = False,
    seed: Seed = 0,
    draws: Annotated[
        int | None, typer.Option(min=2, help="How often the random part is repeated.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="File or folder of a study about data, as papk-table3.")
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List the studies and stop.")] = False,
    debug: Debug = False,
) -> None:
    """Run a study of the papers' claims: data, figures and a small page."""
    # Here, so that the other commands do not wait for torch.
    import torch  # noqa: PLC0415

    from rankwise.studies import Setting, UnknownStudyError, run_study  # noqa: PLC0415

    console = paper()
    if show or name is None:
        console.print(_list_of_studies())
        raise typer.Exit(0 if show else 2)

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
    from rankwise.studies import STUDIES  # noqa: PLC0415

    table = Shown("study", "question")
    for name, question in STUDIES.items():
        table.add_row(name, question)
    return table


def _shown(table: Table) -> Shown:
    shown = Shown(caption=table.caption or None, box=SIMPLE_HEAD, padding=0)
    for number, name in enumerate(table.header):
        shown.add_column(name, justify="right" if number else "left", no_wrap=not number)
    for row in table.rows:
        shown.add_row(*map(str, row))
    return shown
