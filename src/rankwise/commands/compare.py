"""``rankwise compare``: which model and objective is best for a metric on a table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.table import Table as Shown

from rankwise.commands.app import App, Command
from rankwise.commands.columns import show_columns
from rankwise.commands.console import complaints, fail, paper
from rankwise.commands.guard import Debug
from rankwise.commands.options import Resume, add_config, takes_settings
from rankwise.commands.outputs import require_folder
from rankwise.commands.shared import progress_bar
from rankwise.tasks.compare.settings import Settings

if TYPE_CHECKING:
    from rankwise.tasks.compare import CompareResult, Event
    from rankwise.tasks.compare.importance import ImportanceResult
    from rankwise.tasks.compare.results import CandidateResult

_COLUMNS = 10  # whose importance is shown


_config = App()
add_config(_config, lambda: Settings)


class CompareCommand(Command):
    """``rankwise compare DATA``, and ``rankwise compare config``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["config"] and not Path("config").exists():
            _config(args[1:], prog_name=f"{ctx.command_path} config", standalone_mode=False)
            ctx.exit()
        return super().parse_args(ctx, args)


@takes_settings(Settings)
def compare(  # noqa: PLR0917  (a command line is called by names)
    data: Annotated[Path, typer.Argument(help="Table: csv, parquet or svmlight (LETOR).")],
    settings: Settings,
    budget: Annotated[str, typer.Option(help="Total training time, such as 90s, 2m, 1h.")] = "2m",
    out: Annotated[
        Path | None, typer.Option(help="Output folder of the run. Default: runs/NAME of the data.")
    ] = None,
    resume: Resume = False,
    debug: Debug = False,
) -> None:
    """Train on log-loss and on the metric, choose by validation, test once, keep the best model.

    `rankwise compare config` prints the settings as YAML, for --config.
    """
    folder = out or Path("runs") / re.sub(r"\.(gz|[a-z]+)$", "", data.name.removesuffix(".gz"))
    require_folder(folder)
    try:
        found = _run(settings, folder, resume)
    except KeyboardInterrupt:
        fail(f"stopped; the same command with --resume continues the run in {folder}")
    _show(found)


def _run(settings: Settings, folder: Path, resume: bool) -> CompareResult:
    from rankwise.tasks.compare import run  # noqa: PLC0415

    console = complaints()
    with progress_bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[best]}"),
        TimeElapsedColumn(),
    ) as progress:
        bar = progress.add_task("reading", total=None, best="")

        def advance(event: Event) -> None:
            now = event.progress
            best = "" if now.best is None else f"{settings.metric} {now.best:.4f}"
            what = f"{event.name}, trial {now.trials + 1}" if now.trials else event.name
            progress.update(
                bar,
                description=what,
                completed=event.number + now.share,
                total=event.total,
                best=best,
            )

        def announce(words: str) -> None:
            console.print(words, style="yellow", highlight=False, markup=False, soft_wrap=True)

        return run(
            settings,
            folder,
            resume=resume,
            on_read=show_columns,
            on_event=advance,
            on_warning=announce,
        )


def _show(found: CompareResult) -> None:
    results, console = found.results, paper()
    shown = Shown(
        title=f"{results['metric']} on {results['evaluation']}, {results['data']['test']} rows",
        caption=f"chosen by {results['choice']}; difference and p against the best log-loss model",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    shown.add_column("candidate", no_wrap=True)
    for name in ("validation", "test", "95 %", "difference", "p", "time"):
        shown.add_column(name, justify="right", no_wrap=True)
    for number, row in enumerate(results["candidates"]):
        recommended = number == results["recommended"]
        mark = " ★" if recommended else ""
        shown.add_row(row["name"] + mark, *_cells(row), style="bold" if recommended else None)
    console.print(shown)
    for line in filter(None, (results["why"], results["verdict"], *results["remarks"])):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    _show_importance(results["importance"])
    for path in (found.folder / "model", found.report):
        console.print(str(path), style="bold", highlight=False, markup=False, soft_wrap=True)


def _show_importance(found: ImportanceResult) -> None:
    shown = Shown(
        title=f"{found['metric']} lost where a column is shuffled",
        caption=f"{found['rows']} rows of {found['part']}, {found['repeats']} shuffles of a column",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    shown.add_column("column", no_wrap=True)
    for name in ("importance", "95 %"):
        shown.add_column(name, justify="right", no_wrap=True)
    for row in found["columns"][:_COLUMNS]:
        between = f"{row['low']:+.4f} – {row['high']:+.4f}"
        shown.add_row(row["name"], f"{row['mean']:+.4f}", between)
    paper().print(shown)
    if (rest := found["of_columns"] - _COLUMNS) > 0:
        paper().print(f"{rest} more columns are on the report", highlight=False, soft_wrap=True)


def _cells(row: CandidateResult) -> list[str]:
    test, against = row["test"], row["difference"]
    return [
        _number(row["validation"]["mean"]),
        _number(test["value"]),
        f"{_number(test['low'])} – {_number(test['high'])}",
        "baseline" if against is None else _number(against["value"], "+.4f"),
        "" if against is None else _number(against["p"], ".3f"),
        f"{row['seconds']:.1f} s",
    ]


def _number(value: float | None, form: str = ".4f") -> str:
    return "–" if value is None else f"{value:{form}}"
