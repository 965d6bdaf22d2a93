"""``rankwise evaluate`` and ``rankwise predict``: scores of rows, and their metrics."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import Annotated

import typer

from rankwise import report
from rankwise.commands.console import complaints, refuse, require_other, say, show, write_frame
from rankwise.settings import MAX_SEED
from rankwise.tasks import compare as task  # its modules are imported where they are used


def evaluate(  # noqa: PLR0917  (a command line is called by names)
    scores: list[Path],
    target: str | None = None,
    score: str | None = None,
    group: str | None = None,
    positive: str | None = None,
    metric: list[str] | None = None,
    json: Path | None = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=MAX_SEED, help="Seed of the bootstrap. Default: the run's, or 0."),
    ] = None,
    memory: str = "auto",
    save_histogram: Path | None = None,
) -> None:
    """Compute all metrics of a column of scores or of a run's test rows, with 95 % intervals.

    Several files, such as those of days or workers, are one list of scores.

    Args:
        scores: Tables with scores (csv or parquet), files of --save-histogram (.npz), or the folder
            of a run of `rankwise compare`, whose held-out test rows are evaluated.
        target: Target column (of a table).
        score: Column of the scores, higher first (of a table).
        group: Column with the list (query, user) of each row (of a table).
        positive: Value of the target that is the positive class (of a table).
        metric: Metric to compute, such as ndcg@10; may be repeated. Default: all.
        json: JSON file for the numbers.
        memory: Rows in memory: all, or bounded (counts, and further passes over the files). auto is
            bounded above 20 million rows (parquet) or 1 GiB (csv) and for several files.
        save_histogram: File (.npz) for the counts of the scores, to be added to others later.
    """
    for option, out in (("--json", json), ("--save-histogram", save_histogram)):
        for path in scores:
            require_other(option, out, path)
    columns = {"target": target, "score": score, "group": group, "positive": positive}
    with complaints().status("evaluating …"):
        if scores[0].is_dir() and len(scores) == 1:
            given = [f"--{name}" for name, value in columns.items() if value is not None]
            given += ["--memory"] * (memory != "auto")
            given += ["--save-histogram"] * (save_histogram is not None)
            if given:
                refuse(f"{', '.join(given)}: only for a table; the run in {scores[0]} has its own")
            found = task.evaluate_run(scores[0], metrics=metric, seed=seed)
        else:
            files = _files(scores)
            found = _of_tables(files, columns, memory, save_histogram, metric, seed or 0)
    if json is not None:
        report.write_json(json, found.as_json())
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
    if save_histogram is not None:
        say([str(save_histogram)], style="bold")
    if found.warning is not None:
        say([found.warning], style="bold red")


def _files(scores: list[Path]) -> list[Path]:
    """Return the files of names and patterns, such as days/*.parquet."""
    found: list[Path] = []
    for path in scores:
        if path.is_dir():
            refuse(f"{path}: is a folder; name its files, such as '{path}/*.parquet'")
        # Patterns in quotes: a shell gives up where there are too many files.
        named = [path] if path.exists() else sorted(map(Path, glob(str(path), recursive=True)))
        if not named:
            refuse(f"{path}: there is no such file")
        found += named
    if twice := [path for path in found if found.count(path) > 1]:
        refuse(f"{twice[0]}: is named twice; its rows would count twice")
    return found


def _of_tables(  # noqa: PLR0917  (those of the command)
    files: list[Path],
    columns: dict[str, str | None],
    memory: str,
    save: Path | None,
    metrics: list[str] | None,
    seed: int,
) -> task.EvaluationResult:
    """Evaluate tables in the memory that was asked for, or that suits their size."""
    if memory not in ("auto", "all", "bounded"):
        refuse(f"--memory must be auto, all or bounded, got {memory!r}")
    if save is not None and save.suffix != task.HISTOGRAM:
        refuse(f"--save-histogram must be a file *{task.HISTOGRAM}, got {save}")
    counted = [path for path in files if path.suffix == task.HISTOGRAM]
    target, score, group, positive = columns.values()
    if len(counted) < len(files) and (target is None or score is None):
        lacking = " and ".join(f"--{name}" for name in ("target", "score") if columns[name] is None)
        refuse(
            f"{lacking} must be given for a table: name the columns of {files[0]} "
            "that hold the target and the scores, or pass the folder of a run"
        )
    needs = [
        *(["several files"] * (len(files) > 1)),
        *(["a file of counts"] * bool(counted)),
        *(["--save-histogram"] * (save is not None)),
        *(["--memory bounded"] * (memory == "bounded")),
    ]
    if needs and (memory == "all" or group is not None):
        other = "--memory all" if group is None else "--group"
        refuse(
            f"{needs[0]} cannot go with {other}: counts in bounded memory know one list of all "
            "rows; evaluate one table, without them"
        )
    whole = not needs and (memory == "all" or group is not None or not task.is_large(files[0]))
    if whole and target is not None and score is not None:
        return task.evaluate_scores(
            files[0],
            target=target,
            score=score,
            group=group,
            positive=positive,
            metrics=metrics,
            seed=seed,
        )
    return task.evaluate_bounded(
        files,
        target=target,
        score=score,
        positive=positive,
        metrics=metrics,
        seed=seed,
        save=save,
    )


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
