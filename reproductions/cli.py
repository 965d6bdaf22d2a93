"""``python -m reproductions``: list the studies, or run one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import torch
import typer
from rich.box import SIMPLE_HEAD
from rich.progress import track
from rich.table import Table as Shown
from typer.core import TyperGroup

from rankwise.commands.console import (
    complaints,
    one_line,
    paper,
    refuse,
    require_folder,
    require_other,
)
from rankwise.commands.options import Debug, Seed
from rankwise.report import Table
from reproductions.frame import (
    STUDIES,
    BasePlan,
    Setting,
    UnknownStudyError,
    load_study,
    run_study,
)

_Item = TypeVar("_Item")


class Studies(TyperGroup):
    """One command for each study, made when it is asked for."""

    def list_commands(self, ctx: object) -> list[str]:
        """Return no names, so that --help loads no study."""
        return []

    def get_command(self, ctx: object, cmd_name: str) -> Any:
        """Load a study and make its command."""
        try:
            plan = load_study(cmd_name).plan
        except UnknownStudyError as error:
            refuse(str(error))
        one = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        said = f"{STUDIES[cmd_name].question} Writes data, figures and a report."
        one.command(cmd_name, help=said)(_command(cmd_name, plan))
        return typer.main.get_command(one)


app = typer.Typer(
    cls=Studies,
    add_completion=False,
    pretty_exceptions_enable=False,
    subcommand_metavar="[NAME] [OPTIONS]",
)


@app.callback(invoke_without_command=True)
def studies(ctx: typer.Context) -> None:
    """Run a study of the papers' claims; without a name list the studies.

    Options of all studies are --quick, --seed, --data, --out and --fresh, and of those with a
    random part that is repeated --draws; NAME --help lists them with the settings of a study.
    """
    if ctx.invoked_subcommand is None:
        table = Shown("study", "question", "time", "data", box=SIMPLE_HEAD, pad_edge=False)
        for name, study in STUDIES.items():
            table.add_row(name, study.question, study.time, study.data)
        paper().print(table)


def _command(name: str, plan: type[BasePlan]) -> Callable[..., None]:
    """Make the command of a study: the shared options, and the settings of its plan."""
    types = plan.option_types()

    def command(**given: Any) -> None:
        _run(name, types, **given)

    shared = inspect.signature(_run, eval_str=True).parameters
    left_out = ("name", "types", "settings", *(("draws",) if plan.DRAWS is None else ()))
    parameters = [p for n, p in shared.items() if n not in left_out]
    parameters += [
        inspect.Parameter(
            option,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=_annotated(plan, option, kind),
        )
        for option, kind in types.items()
        if option not in shared
    ]
    vars(command)["__signature__"] = inspect.Signature(parameters)
    return command


def _run(
    name: str,
    types: dict[str, Any],
    *,
    out: Annotated[
        Path, typer.Option(help="Output folder; the study writes into a subfolder of its name.")
    ] = Path("out"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Short form: less data, fewer repeats.")
    ] = False,
    seed: Seed = 0,
    draws: Annotated[
        int | None, typer.Option(min=2, help="Number of repeats of the random part.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Data file or folder, for a study that needs one.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Discard the runs kept in --out; measure again.")
    ] = False,
    debug: Debug = False,
    **settings: Any,
) -> None:
    """Run the study and show its table."""
    torch.set_num_threads(1)  # the tensors of the studies are too small to share

    def shown(work: Sequence[_Item], doing: str) -> Iterable[_Item]:
        return track(work, description=doing, console=complaints(), transient=True)

    folder = out / name
    with one_line(debug=debug):
        require_folder(folder)
        require_other("data.csv in --out", folder / "data.csv", data)
        if fresh:
            (folder / "runs.json").unlink(missing_ok=True)
        options = {
            option: _read(option, value, types[option])
            for option, value in settings.items()
            if value is not None
        }
        setting = Setting(seed, quick, draws, shown, data, options=options)
        where, table = run_study(name, out, setting)
    paper().print(_shown(table))
    paper().print(str(where), style="bold", highlight=False, markup=False, soft_wrap=True)


def _annotated(plan: type[BasePlan], name: str, kind: Any) -> Any:
    """Return the type of an option, with its value in the full and in the quick form."""
    default = getattr(plan, name, None)
    said = [] if default is None else [f"full: {_plain(default)}"]
    said += [f"quick: {_plain(plan.QUICK[name])}"] if name in plan.QUICK else []
    if get_args(kind):
        kind, said = str, ["separated by commas", *said]
    return Annotated[kind | None, typer.Option(help="; ".join(said))]


def _plain(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _read(name: str, value: Any, kind: Any) -> Any:
    if not get_args(kind):
        return value
    part = get_args(kind)[0]
    try:
        return tuple(part(each) for each in value.split(","))
    except ValueError:
        words = f"--{name.replace('_', '-')} must be {part.__name__} values separated by commas"
        refuse(f"{words}, got {value!r}")


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
