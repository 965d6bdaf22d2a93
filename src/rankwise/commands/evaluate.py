"""``rankwise evaluate``: what scores made by anything are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table as Shown

from rankwise.commands.console import complaints, paper
from rankwise.commands.guard import Debug, guarded
from rankwise.commands.outputs import require_other
from rankwise.tasks.seeds import HIGHEST

__all__ = ["evaluate"]


def evaluate(  # noqa: PLR0917  (a command line is called by names)
    scores: Annotated[Path, typer.Argument(help="Table with scores: csv or parquet.")],
    target: Annotated[str, typer.Option(help="Column to be found.")],
    score: Annotated[str, typer.Option(help="Column of the scores, higher first.")],
    group: Annotated[
        str | None, typer.Option(help="Column that says which list a row belongs to.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Which value of the target is to be found.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Only this one, such as ndcg@10; may be repeated.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the numbers into this file.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=HIGHEST, help="Seed of the bootstrap.")] = 0,
    debug: Debug = False,
) -> None:
    """All metrics of a column of scores, with 95 % intervals."""
    with guarded(debug=debug):
        # Here, so that the other commands do not wait for the readers of tables.
        from rankwise.report import write_json  # noqa: PLC0415
        from rankwise.tasks.compare.scores import evaluate_scores  # noqa: PLC0415

        require_other("--json", json, scores)
        with complaints().status("evaluating …"):
            found = evaluate_scores(
                scores,
                target=target,
                score=score,
                group=group,
                positive=positive,
                metrics=metric,
                seed=seed,
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
