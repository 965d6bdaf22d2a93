"""``rankwise evaluate`` and ``rankwise predict``: scores of rows, and their metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise import report
from rankwise.commands.app import CORRECTIONS
from rankwise.commands.console import complaints, refuse, require_other, say, show, write_frame
from rankwise.settings import MAX_SEED
from rankwise.tasks import compare as task  # its modules are imported where they are used


def evaluate(  # noqa: PLR0917  (a command line is called by names)
    scores: Path,
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
    correction: str = "tukey",
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=MAX_SEED, help="Seed of the bootstrap. Default: the run's, or 0."),
    ] = None,
) -> None:
    """Compute all metrics of a column of scores or of a run's test rows, with 95 % intervals.

    Args:
        scores: Table with scores (csv or parquet), or folder of a run of `rankwise compare`,
            whose held-out test rows are evaluated.
        target: Target column (of a table).
        score: Column of the scores, higher first (of a table). Repeated, the systems are compared.
        group: Column with the list (query, user) of each row (of a table).
        positive: Value of the target that is the positive class (of a table).
        metric: Metric to compute, such as ndcg@10; may be repeated. Default: all.
        threshold: Rule to choose a threshold by, such as precision>=0.8, recall>=0.9, fpr<=0.01,
            alerts<=200/day, or with a confidence precision>=0.8@95%; may be repeated.
        rows_per_day: Rows of a day, for alerts<=…/day.
        time: Column of dates that rows per day are counted by (of a table).
        by: Column whose values cut the rows into slices, or several separated by commas for their
            combinations (of a table); may be repeated. Every slice is compared with the other
            rows, by the metrics named or else by the first.
        json: JSON file for the numbers.
        out: File for the numbers as a table (csv, or .parquet).
        correction: Adjustment of the p-values of several systems over lists: tukey (randomized),
            tukey-hsd (studentized range) or holm.
    """

    require_other("--json", json, scores)
    require_other("--out", out, scores)
    if by and scores.is_dir():
        refuse(
            "--by: only for a table; write the test rows of the run with rankwise predict "
            f"{scores} --part test --keep all --out test.csv and evaluate that file"
        )
    columns = {"target": target, "score": score, "group": group, "positive": positive}
    columns["time"] = time
    rules = threshold or []
    if target is not None and len(score or ()) > 1 and not scores.is_dir():
        if by:
            refuse("--by takes one column of scores, got several --score; evaluate them alone")
        if rules:
            refuse("--threshold takes one column of scores, got several; evaluate them alone")
        if correction not in CORRECTIONS:
            refuse(f"--correction must be one of {', '.join(CORRECTIONS)}, got {correction!r}")
        with complaints().status("evaluating …"):
            systems = task.evaluate_systems(
                scores,
                target=target,
                scores=score or (),
                group=group,
                positive=positive,
                metrics=metric,
                correction=CORRECTIONS[correction],
                seed=seed or 0,
            )
        _show_systems(systems, json, out)
        return
    with complaints().status("evaluating …"):
        if scores.is_dir():
            if given := [f"--{name}" for name, value in columns.items() if value is not None]:
                refuse(f"{', '.join(given)}: only for a table; the run in {scores} has its own")
            found = task.evaluate_run(
                scores, metrics=metric, seed=seed, rules=rules, rows_per_day=rows_per_day
            )
        elif target is None or score is None:
            lacking = " and ".join(f"--{n}" for n in ("target", "score") if columns[n] is None)
            refuse(
                f"{lacking} must be given for a table: name the columns of {scores} "
                "that hold the target and the scores, or pass the folder of a run"
            )
        else:
            more = {"group": group, "positive": positive, "time": time}
            found = task.evaluate_scores(
                scores,
                target=target,
                score=score[0],
                **more,
                metrics=metric,
                by=by or (),
                seed=seed or 0,
                rules=rules,
                rows_per_day=rows_per_day,
            )
    _show_evaluation(found, json, out)


def _show_evaluation(found: task.EvaluationResult, json: Path | None, out: Path | None) -> None:
    if json is not None:
        report.write_json(json, found.as_json())
    if out is not None:
        write_frame(found.as_frame(), out)
    rows = [
        (name, f"{each.value:.4f}", f"{each.low:.4f} – {each.high:.4f}", each.method)
        for name, each in found.metrics.items()
    ]
    table = report.Table(("metric", "value", "95 % interval", "by"), rows, found.caption)
    show(table, words=("by",))
    if found.points:
        from rankwise.tasks.compare import operating  # noqa: PLC0415  (it imports torch)

        title = f"thresholds: rows with a {found.column} above are flagged; 95 % intervals"
        show(report.Table(operating.HEADER, operating.lines(found.points)), title=title)
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


def predict(
    model: Path,
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Rows to score: csv, parquet or svmlight. With --part: the run's data file, if it "
            "was moved."
        ),
    ] = None,
    part: str | None = None,
    keep: list[str] | None = None,
    out: Path | None = None,
) -> None:
    """Score the rows of a file, or a run's own test rows: score and probability, in file order.

    Args:
        model: Folder of a run or of its model, or file of an estimator.
        part: Rows of the run itself to score: test, validation or train.
        keep: Columns of the data to write before the scores, separated by commas, or all; may be
            repeated.
        out: File to write (csv, or .parquet) rather than print.
    """
    rows = None
    if part is not None:
        rows, data = task.rows_of_part(model, part), task.data_of_run(model, data)
    if data is None:
        refuse(
            f"DATA is missing: pass the rows to score (rankwise predict {model} DATA), or "
            "--part test for the rows that a run held out"
        )
    require_other("--out", out, data, model)
    with complaints().status("predicting …"):
        found = task.predict_file(model, data, keep=keep or (), rows=rows)
    write_frame(found.frame, out)
    say([*found.remarks, *([found.warning] if found.warning else [])], error=True)
