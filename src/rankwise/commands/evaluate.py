"""``rankwise evaluate``: what scores made by anything are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table as Shown

from rankwise.commands.console import complaints, paper, refuse
from rankwise.commands.guard import Debug, guarded
from rankwise.commands.outputs import require_other
from rankwise.settings import MAX_SEED


def evaluate(  # noqa: PLR0917  (a command line is called by names)
    scores: Annotated[
        Path,
        typer.Argument(
            help="Table with scores (csv or parquet), or folder of a run of `rankwise compare`, "
            "whose held-out test rows are evaluated."
        ),
    ],
    target: Annotated[str | None, typer.Option(help="Target column (of a table).")] = None,
    score: Annotated[
        str | None, typer.Option(help="Column of the scores, higher first (of a table).")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(help="Column with the list (query, user) of each row (of a table)."),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(help="Value of the target that is the positive class (of a table)."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric to compute, such as ndcg@10; may be repeated. Default: all."),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="JSON file for the numbers.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=MAX_SEED, help="Seed of the bootstrap; the run's own, or 0."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Compute all metrics of a column of scores or of a run's test rows, with 95 % intervals."""
    with guarded(debug=debug):
        # Here, so that the other commands do not wait for the readers of tables.
        from rankwise.report import write_json  # noqa: PLC0415
        from rankwise.tasks.compare.evaluate import evaluate_run, evaluate_scores  # noqa: PLC0415

        require_other("--json", json, scores)
        columns = {"target": target, "score": score, "group": group, "positive": positive}
        with complaints().status("evaluating …"):
            if scores.is_dir():
                given = [f"--{name}" for name, value in columns.items() if value is not None]
                if given:
                    refuse(f"{', '.join(given)}: only for a table; the run in {scores} has its own")
                found = evaluate_run(scores, metrics=metric, seed=seed)
            elif target is None or score is None:
                lacking = " and ".join(f"--{n}" for n in ("target", "score") if columns[n] is None)
                refuse(
                    f"{lacking} must be given for a table: name the columns of {scores} that hold "
                    "the target and the scores, or pass the folder of a run"
                )
            else:
                found = evaluate_scores(
                    scores,
                    target=target,
                    score=score,
                    group=group,
                    positive=positive,
                    metrics=metric,
                    seed=seed or 0,
                )
        if json is not None:
            write_json(json, found.as_json())
        shown = Shown(caption=found.caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        # Where there is little room the others fold: a value cut short would be another value.
        shown.add_column("metric", overflow="fold")
        shown.add_column("value", justify="right", no_wrap=True, min_width=6)
        shown.add_column("95 % interval", justify="right", min_width=8)
        shown.add_column("by", overflow="fold")
        for name, each in found.metrics.items():
            between = f"{each.low:.4f} – {each.high:.4f}"
            shown.add_row(name, f"{each.value:.4f}", between, each.method)
        paper().print(shown)
        if found.warning is not None:
            paper().print(found.warning, style="bold red", highlight=False, soft_wrap=True)
