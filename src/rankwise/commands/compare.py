"""``rankwise compare``: which model and objective is best for a metric on a table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Shown

from rankwise.commands.columns import show_columns
from rankwise.commands.console import complaints, paper
from rankwise.commands.guard import Debug
from rankwise.commands.outputs import require_folder
from rankwise.commands.shared import Seed, one_line

if TYPE_CHECKING:
    from rankwise.tasks.compare import CompareResult, Event, Settings
    from rankwise.tasks.compare.importance import ImportanceResult
    from rankwise.tasks.compare.results import CandidateResult

__all__ = ["compare"]

_COLUMNS = 10  # whose importance is shown


def compare(  # noqa: PLR0917  (a command line is called by names)
    data: Annotated[Path, typer.Argument(help="Table: csv, parquet or svmlight (LETOR).")],
    target: Annotated[
        str | None, typer.Option(help="Target column; not needed for svmlight.")
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            help="Metric to train for and to choose by: ap, auc, opauc(max_fpr=.05), ndcg@10, …"
        ),
    ] = "ap",
    group: Annotated[
        str | None, typer.Option(help="Column with the list (query, user) of each row.")
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="Column of dates or numbers; the latest rows are the test part."),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Value of the target that is the positive class.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="Column of sample weights, for training and metrics.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out of the features; may be repeated.")
    ] = None,
    use: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to keep as a feature although it looks like an id; may be repeated."
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="Column of free text to use as TF-IDF features; may be repeated."),
    ] = None,
    date_format: Annotated[
        str | None, typer.Option(help="strftime format of the dates, such as %d/%m/%Y.")
    ] = None,
    budget: Annotated[str, typer.Option(help="Total training time, such as 90s, 2m, 1h.")] = "2m",
    trials: Annotated[
        int, typer.Option(min=1, help="Maximum number of tuning trials per candidate.")
    ] = 30,
    candidates: Annotated[
        str, typer.Option(help="Candidates to train, such as boosted,linear:log_loss,neural:both.")
    ] = "linear,boosted,neural",
    repeats: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of repeats of 5-fold cross-validation over all rows; 0 for one test part.",
        ),
    ] = 0,
    seeds: Annotated[
        int, typer.Option(min=1, help="Number of fits per candidate; their ranks are averaged.")
    ] = 1,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="Output folder of the run. Default: runs/NAME of the data.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the run in the output folder.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Train on log-loss and on the metric, choose by validation, test once, keep the best model."""
    with one_line(debug=debug):
        # Here, so that the other commands do not wait for the estimators.
        from rankwise.tasks.compare import Settings  # noqa: PLC0415

        settings = Settings.changed(
            {
                "data": data,
                "target": target,
                "metric": metric,
                "group": group,
                "time": time,
                "positive": positive,
                "weight": weight,
                "drop": tuple(drop or ()),
                "use": tuple(use or ()),
                "text": tuple(text or ()),
                "date_format": date_format,
                "candidates": candidates,
                "budget": budget,
                "trials": trials,
                "repeats": repeats,
                "seeds": seeds,
                "seed": seed,
            }
        )
        folder = out or Path("runs") / re.sub(r"\.(gz|[a-z]+)$", "", data.name.removesuffix(".gz"))
        require_folder(folder)
        try:
            found = _run(settings, folder, resume)
        except KeyboardInterrupt:
            words = (
                f"stopped; what is done is kept: the same command with --resume goes on ({folder})"
            )
            complaints().print(words, style="red", highlight=False, markup=False, soft_wrap=True)
            raise typer.Exit(1) from None
        _show(found)


def _run(settings: Settings, folder: Path, resume: bool) -> CompareResult:
    from rankwise.tasks.compare import run  # noqa: PLC0415

    console = complaints()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[best]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,  # a file or a pipe would get an empty line
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
