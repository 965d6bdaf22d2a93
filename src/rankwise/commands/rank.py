"""``rankwise rank``: learning to rank judged lists of documents."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from rankwise import training
from rankwise.commands.app import App, add_config
from rankwise.commands.console import require_folder, require_other, say, show, write_frame
from rankwise.commands.options import Out, Resume, Run, names_of
from rankwise.commands.rank_runs import compare, fuse, read_run
from rankwise.errors import UsageError
from rankwise.tasks import ranking as task  # its modules are imported where they are used
from rankwise.tasks.ranking.settings import DEFAULT, TREC, Settings

app = App(
    help="Train a document ranker on NDCG or another metric, evaluate it, and compare TREC runs."
)
add_config(app, lambda: Settings)

_METRICS, _TREC = ",".join(DEFAULT), ",".join(TREC)


@app.command(stopped="stopped; --resume continues from the last checkpoint", trains=True)
def train(  # noqa: PLR0917  (a command line is called by names)
    data: Path,
    settings: Settings,
    validation: Path | None = None,
    test: Path | None = None,
    metrics: str = _METRICS,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Model option, such as epochs=50 or hidden=[64,32]; may be repeated."
        ),
    ] = None,
    out: Out = Path("runs/rank"),
    resume: Resume = False,
    cache: Path | None = None,
    clicks: Path | None = None,
    propensities: Path | None = None,
) -> None:
    """Fit a ranker on lists, stop by validation, evaluate it on every file given.

    Args:
        data: Training lists: svmlight with qid or a .query file.
        validation: Validation lists for early stopping. Default: a fifth of the queries.
        test: Test lists.
        metrics: Metrics to report, separated by commas.
        cache: Folder for the parsed lists, so that the next command need not parse them again.
        clicks: Click log to learn from in place of the relevances of the training lists: csv or
            parquet with the columns query, document, position, click.
        propensities: Propensity of every position (csv: position, propensity). Default: estimated
            from the click log.
    """
    from rankwise.data import letor  # noqa: PLC0415  (needs an extra)

    if propensities is not None and clicks is None:
        raise UsageError("--propensities is for a click log; pass --clicks, too")
    require_folder(out)
    training.require_free(out, "rank", resume=resume)  # before files are read, which takes a while
    settings = settings.replace(options={**settings.options, **_options(option or [])})
    names, model = names_of("metrics", metrics), None
    learned = letor.read_letor(data, judged=clicks is None, cache=cache)
    if clicks is not None:
        settings, names = task.linear_settings(settings), task.linear_metrics(names)
        learned, model = task.learn_from_clicks(learned, clicks, propensities)
        say([model.line()], error=True)
    held, last = (
        None if file is None else letor.read_letor(file, cache=cache) for file in (validation, test)
    )
    for name, part in {"train": learned, "validation": held, "test": last}.items():
        if part is not None:
            said = f"{name}: {len(part):,} documents of {len(part.queries):,} queries"
            say([f"{said}, {part.width - 1} features"], error=True)
    done = task.run(settings, out, learned, held, last, metrics=names, clicks=model, resume=resume)
    if done is None:  # another process writes
        return
    show(task.results_table(done.results))
    say([*task.notes_of(done.results), *done.verdict.lines(), str(done.report)])


@app.command()
def evaluate(  # noqa: PLR0917
    run: Path,
    data: Path,
    metrics: Annotated[
        str | None,
        typer.Option(help=f"Metrics, separated by commas. Default: {_METRICS}; run file: {_TREC}."),
    ] = None,
    relevant: float | None = None,
    write_run: Path | None = None,
    write_qrels: Path | None = None,
    out: Path | None = None,
    cache: Path | None = None,
) -> None:
    """Evaluate a finished run on other lists, or a TREC run file against its qrels.

    Args:
        run: Folder of a finished run, or a run file of TREC.
        data: Lists as for train, or qrels for a run file.
        relevant: Smallest relevance of a positive. Default: as trained, or 1.
        write_run: Run file to write the ranking to.
        write_qrels: qrels file to write the relevances to.
        out: csv file for the metrics per query.
        cache: Folder for the parsed lists, as for train.
    """
    from rankwise.data import letor  # noqa: PLC0415  (needs an extra)

    written = {"--write-run": write_run, "--write-qrels": write_qrels, "--out": out}
    for name, path in written.items():
        require_other(name, path, run, data)
    of_file = run.is_file()
    names = names_of("metrics", metrics or (_TREC if of_file else _METRICS))
    if of_file:
        if write_run is not None or write_qrels is not None:
            raise UsageError("--write-run and --write-qrels are for the folder of a run")
        if relevant is not None and not relevant.is_integer():
            raise UsageError(f"qrels have whole numbers; --relevant must be one, got {relevant}")
        judged = letor.read_qrels(data)
        ranked = read_run(run, judged, data)
        least = 1 if relevant is None else int(relevant)
        queries, found = list(judged), task.evaluate_run(ranked, judged, names, relevant=least)
        tied = task.tied_run_queries(ranked, judged)
        rule = "are ordered by document id, last first"
    else:
        settings, ranker = task.load_run(run)
        lists = letor.read_letor(data, cache=cache)
        scores = task.scores_of(ranker, lists)
        threshold = settings.relevant if relevant is None else relevant
        queries = list(lists.queries)
        found = task.evaluate_lists(scores, lists, names, relevant=threshold)
        tied = task.tied_queries(scores, lists)
        rule = (
            "count as the mean over their orders (ap: all as above); in a run file trec_eval, and "
            "rankwise with it, orders them by document id"
        )
        if write_run is not None:
            letor.write_run(write_run, task.as_run(lists, scores))
        if write_qrels is not None:
            letor.write_qrels(write_qrels, task.as_qrels(lists))
    if tied:
        there = "1 query has" if tied == 1 else f"{tied} queries have"
        say([f"{there} documents of different relevance with one score: they {rule}"], error=True)
    show(task.results_table({data.name: found}))
    say(task.notes_of({data.name: found}))
    if out is not None:
        import polars as pl  # noqa: PLC0415

        values = {name: each.values for name, each in found.items()}
        write_frame(pl.DataFrame({"query": queries, **values}).fill_nan(None), out)


@app.command()
def predict(run: Run, data: Path, out: Path | None = None) -> None:
    """Score the documents of lists, labeled or not: query, document, rank, score.

    Args:
        data: Lists to score, as for train; relevances may be missing.
        out: File to write: a table (.csv), else a run of TREC. Default: print csv.
    """
    from rankwise.data import letor  # noqa: PLC0415  (needs an extra)

    require_other("--out", out, data, run / "model.ranker", run / "config.json")
    _, ranker = task.load_run(run)
    lists = letor.read_letor(data, judged=False)
    scores = task.scores_of(ranker, lists)
    if out is not None and out.suffix != ".csv":
        letor.write_run(out, task.as_run(lists, scores))
    else:
        write_frame(task.scores_frame(lists, scores), out)
    counts = f"{len(lists):,} documents of {len(lists.queries):,} queries"
    say([counts if out is None else f"{counts}: {out}"], error=True)


app.command()(compare)
app.command()(fuse)


def _options(given: list[str]) -> dict[str, object]:
    """``name=value`` pairs, the values as JSON, as numbers such as .2, or else as words."""
    found: dict[str, object] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set must be name=value, such as epochs=50, got {text!r}")
        found[name.strip()] = value
        for parse in (float, json.loads):  # JSON last: 50 is an int there
            if "_" in value and parse is float:
                continue  # 1_0 is a number of Python alone
            with suppress(ValueError, RecursionError):
                found[name.strip()] = parse(value)
    return found
