"""``rankwise evaluate``: the metrics of scores, with their confidence intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise import report
from rankwise.commands.console import complaints, refuse, require_other, say, show, write_frame
from rankwise.commands.evaluate_options import (
    bounded_because,
    files_of,
    require_correction,
    require_daily_rule,
    require_no_table_options,
)
from rankwise.commands.options import CORRECTIONS
from rankwise.settings import MAX_SEED
from rankwise.tasks import compare as task  # its modules are imported where they are used


def evaluate(  # noqa: PLR0917  (a command line is called by names)
    scores: list[Path],
    target: str | None = None,
    score: list[str] | None = None,
    group: str | None = None,
    positive: str | None = None,
    metric: list[str] | None = None,
    threshold: list[str] | None = None,
    rows_per_day: float | None = None,
    time: str | None = None,
    by: list[str] | None = None,
    json: Path | None = None,
    out: Path | None = None,
    correction: str | None = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=MAX_SEED, help="Seed of the bootstrap. Default: the run's, or 0."),
    ] = None,
    memory: str = "auto",
    save_histogram: Path | None = None,
) -> None:
    """Compute all metrics of a column of scores or of a run's test rows, with 95 % intervals.

    Several files, such as one per day or worker, are evaluated as one list of scores.

    Args:
        scores: Tables with scores (csv or parquet), files of --save-histogram (.npz), or the folder
            of a run of `rankwise compare`, whose held-out test rows are evaluated.
        target: Target column (tables only).
        score: Score column; higher scores rank first (tables only). Repeat it to compare systems.
            For several classes, the common prefix of their columns: score for score_CLASS.
        group: Column with the list (query, user) of each row (tables only).
        positive: Value of the target that is the positive class (tables only).
        metric: Metric to compute, such as ndcg@10; may be repeated. Default: all.
        threshold: Rule to choose a threshold by, such as precision>=0.8, recall>=0.9, fpr<=0.01,
            alerts<=200/day, or with a confidence precision>=0.8@95%; may be repeated.
        rows_per_day: Number of rows per day, for alerts<=…/day.
        time: Date column to count the rows per day by (tables only).
        by: Column to slice the rows by, or several separated by commas to slice by their
            combinations (tables only); may be repeated. Each slice is compared with all other
            rows on --metric, by default on the first metric.
        json: JSON file for the numbers.
        out: File for the numbers as a table (csv, or .parquet).
        correction: Adjustment of the p-values of several systems over lists: randomized-tukey
            (default), tukey-hsd (studentized range) or holm.
        memory: Rows in memory: all, or bounded (counts, and further passes over the files). auto is
            bounded above 20 million rows (parquet) or 1 GiB (csv) and for several files.
        save_histogram: npz file for the histogram of the scores, which a later evaluate can read
            and add to others.
    """
    for option, file in (("--json", json), ("--out", out), ("--save-histogram", save_histogram)):
        for path in scores:
            require_other(option, file, path)
    columns = {"target": target, "group": group, "positive": positive, "time": time}
    rules = threshold or []
    if len(scores) == 1 and scores[0].is_dir():
        own = columns | {"score": score, "save-histogram": save_histogram}
        require_no_table_options(scores[0], own, by, memory, correction)
        require_daily_rule(rules, {"--rows-per-day": rows_per_day})
        with complaints().status("evaluating …"):
            found = task.evaluate_run(
                scores[0], metrics=metric, seed=seed, rules=rules, rows_per_day=rows_per_day
            )
        _show_evaluation(found, json, out)
        return
    files = files_of(scores)
    counted = [path for path in files if path.suffix == task.HISTOGRAM]
    if len(counted) < len(files) and (target is None or not score):
        lacking = {"--target": target, "--score": score}
        missing = " and ".join(name for name, value in lacking.items() if not value)
        refuse(
            f"{missing} must be given for a table: name the columns of {files[0]} "
            "that hold the target and the scores, or pass the folder of a run"
        )
    needs = bounded_because(files, counted, memory, save_histogram)
    rowwise: dict[str, object] = {
        "--group": group,
        "--by": by,
        "--threshold": threshold,
        "--time": time,
        "several --score": len(score or ()) > 1,
    }
    if needs and (other := next((name for name, value in rowwise.items() if value), None)):
        refuse(
            f"{needs} cannot be combined with {other}: bounded memory counts the scores of "
            "all rows as one list; evaluate one table without these options"
        )
    require_daily_rule(rules, {"--rows-per-day": rows_per_day, "--time": time})
    require_correction(correction, len(score or ()), group)
    if target is not None and score and len(score) > 1:
        if other := next((name for name in ("--by", "--threshold") if rowwise[name]), None):
            refuse(f"{other} takes one column of scores, got several --score; evaluate them alone")
        with complaints().status("evaluating …"):
            systems = task.evaluate_systems(
                files[0],
                target=target,
                scores=score,
                group=group,
                positive=positive,
                metrics=metric,
                correction=CORRECTIONS[correction or "randomized-tukey"],
                seed=seed or 0,
            )
        _show_systems(systems, json, out)
        return
    bounded = bool(needs) or (
        memory != "all" and not any(rowwise.values()) and task.is_large(files[0])
    )
    with complaints().status("evaluating …"):
        if target is not None and score and not bounded:
            found = task.evaluate_scores(
                files[0],
                target=target,
                score=score[0],
                group=group,
                positive=positive,
                time=time,
                metrics=metric,
                by=by or (),
                seed=seed or 0,
                rules=rules,
                rows_per_day=rows_per_day,
            )
        else:
            found = task.evaluate_bounded(
                files,
                target=target,
                score=score[0] if score else None,
                positive=positive,
                metrics=metric,
                seed=seed or 0,
                save=save_histogram,
            )
    _show_evaluation(found, json, out)
    if save_histogram is not None:
        say([str(save_histogram)], style="bold")


def _show_evaluation(found: task.EvaluationResult, json: Path | None, out: Path | None) -> None:
    if json is not None:
        report.write_json(json, found.as_json())
    if out is not None:
        write_frame(found.as_frame(), out)
    rows: list[tuple[str, ...]] = [
        (name, f"{each.value:.4f}", f"{each.low:.4f} – {each.high:.4f}", each.method)
        for name, each in found.metrics.items()
    ]
    header: tuple[str, ...] = ("metric", "value", "95 % interval", "by")
    if found.bounded:
        header = (*header, "bounds of the value")
        bounds = map(task.shown_bounds, found.metrics.values())
        rows = [(*row, words) for row, words in zip(rows, bounds, strict=True)]
    show(report.Table(header, rows, found.caption), words=("by",))
    if found.by_class:
        from rankwise.tasks.compare.class_scores import classes_table  # noqa: PLC0415

        show(classes_table(found.by_class), title="by class", words=("class",))
    if found.points:
        from rankwise.tasks.compare import operating  # noqa: PLC0415  (it imports torch)

        title = f"thresholds: rows with a {found.column} above are flagged"
        table = report.Table(operating.HEADER, operating.lines(found.points))
        show(table, title=title, words=("rate",))
        say(f"{rule}: {operating.meaning(point)}" for rule, point in found.points.items())
    for title, slices in task.slice_tables(found.slices):
        show(slices, title=title, words=("verdict",))
    if found.slices:
        say([task.slice_remark(found.slices)], style="yellow")
    if found.warning is not None:
        say([found.warning], style="bold red")


def _show_systems(found: task.SystemsResult, json: Path | None, out: Path | None) -> None:
    if json is not None:
        report.write_json(json, found.as_json())
    if out is not None:
        write_frame(found.as_frame(), out)
    show(found.table, words=("system",))
    for title, pairs in found.pair_tables():
        show(pairs, title=title, words=("A", "B", "verdict"))
    say([found.remark])
    if found.warning is not None:
        say([found.warning], style="bold red")
