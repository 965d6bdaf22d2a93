"""``rankwise drift``: what has changed between two tables of scores."""

from __future__ import annotations

from pathlib import Path

from rankwise import report
from rankwise.commands.console import complaints, require_other, say, show, write_frame
from rankwise.commands.options import Seed
from rankwise.tasks import compare as task  # its modules are imported where they are used


def drift(  # noqa: PLR0917  (a command line is called by names)
    before: Path,
    after: Path,
    score: str = "score",
    target: str | None = None,
    group: str | None = None,
    positive: str | None = None,
    threshold: list[float] | None = None,
    metric: list[str] | None = None,
    json: Path | None = None,
    out: Path | None = None,
    seed: Seed = 0,
) -> None:
    """Compare the scores of two tables: distribution, quantiles and, with labels, metrics.

    Args:
        before: Table with scores (csv or parquet).
        after: Table with later scores, of other rows.
        score: Column of the scores.
        target: Target column of both tables, for metrics.
        group: Column with the list (query, user) of each row, for metrics.
        positive: Value of the target that is the positive class.
        threshold: Score threshold; rows with at least this score are counted. May be repeated.
            Default: the 95 % quantile of the first table.
        metric: Metric to compare; may be repeated. Default: the first two that suit the data.
        json: JSON file for the numbers.
        out: File for the numbers as a table (csv, or .parquet).
    """
    for option, path in (("--json", json), ("--out", out)):
        require_other(option, path, before, after)
    with complaints().status("comparing …"):
        found = task.measure_drift(
            before,
            after,
            score=score,
            target=target,
            group=group,
            positive=positive,
            thresholds=threshold or (),
            metrics=metric,
            seed=seed,
        )
    if json is not None:
        report.write_json(json, found.as_json())
    if out is not None:
        write_frame(found.as_frame(), out)
    show(found.table)
    say([found.verdict])
    say(found.warnings, style="bold red")
