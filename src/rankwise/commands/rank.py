"""``rankwise rank``: learning to rank judged lists of documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from rankwise.commands.app import App
from rankwise.commands.guard import Debug
from rankwise.commands.options import Out, Resume, add_config, takes_settings
from rankwise.commands.outputs import require_folder, require_other
from rankwise.commands.rank_compare import compare
from rankwise.commands.rank_files import TREC, read_judged_run, whole_relevance
from rankwise.commands.rank_predict import predict
from rankwise.commands.shared import names_of, one_line, say, show
from rankwise.tasks.ranking.settings import Settings

app = App()
add_config(app, lambda: Settings)

_METRICS = "ndcg@1,ndcg@5,ndcg@10,ap,mrr,precision@5"


@app.callback()
def rank() -> None:
    """Learn to rank: LETOR, MSLR, Yahoo, svmlight with qid or .query; TREC's runs and qrels."""


@app.command()
@takes_settings(Settings, stopped="stopped; --resume continues from the last checkpoint")
def train(  # noqa: PLR0917  (a command line is called by names)
    data: Annotated[
        Path, typer.Argument(help="Training lists: svmlight with qid or a .query file.")
    ],
    settings: Settings,
    validation: Annotated[
        Path | None,
        typer.Option(help="Validation lists for early stopping. Default: a fifth of the queries."),
    ] = None,
    test: Annotated[Path | None, typer.Option(help="Test lists.")] = None,
    metrics: Annotated[
        str, typer.Option(help="Metrics to report, separated by commas.")
    ] = _METRICS,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Model option, such as epochs=50 or hidden=[64,32]; may be repeated."
        ),
    ] = None,
    out: Out = Path("runs/rank"),
    resume: Resume = False,
    debug: Debug = False,
) -> None:
    """Fit a ranker on lists, stop by validation, evaluate it on every file given."""
    from rankwise.data.letor import read_letor  # noqa: PLC0415  (seconds to import)
    from rankwise.tasks import ranking as task  # noqa: PLC0415
    from rankwise.training import require_free  # noqa: PLC0415

    require_folder(out)
    require_free(out, "rank", resume=resume)  # before the files are read, which takes a while
    settings = settings.replace(options={**settings.options, **_options(option or [])})
    learned = read_letor(data)
    held = None if validation is None else read_letor(validation)
    last = None if test is None else read_letor(test)
    for name, part in (("train", learned), ("validation", held), ("test", last)):
        if part is not None:
            said = f"{name}: {len(part):,} documents of {len(part.queries):,} queries"
            say([f"{said}, {part.width - 1} features"], error=True)
    judged_by = names_of("metrics", metrics)
    done = task.run(settings, out, learned, held, last, metrics=judged_by, resume=resume)
    show(task.results_table(done.results))
    say([*task.notes_of(done.results), *done.verdict.lines(), str(done.page)])


@app.command()
def evaluate(  # noqa: PLR0917
    run: Annotated[Path, typer.Argument(help="Folder of a finished run, or a run file of TREC.")],
    data: Annotated[Path, typer.Argument(help="Lists as for train, or qrels for a run file.")],
    metrics: Annotated[
        str | None,
        typer.Option(help=f"Metrics, separated by commas. Default: {_METRICS}; run file: {TREC}."),
    ] = None,
    relevant: Annotated[
        float | None,
        typer.Option(help="Smallest relevance of a positive. Default: as trained, or 1."),
    ] = None,
    write_run: Annotated[
        Path | None, typer.Option(help="Run file to write the ranking to.")
    ] = None,
    write_qrels: Annotated[
        Path | None, typer.Option(help="qrels file to write the relevances to.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="csv file for the metrics per query.")] = None,
    debug: Debug = False,
) -> None:
    """Evaluate a finished run on other lists, or a TREC run file against its qrels."""
    with one_line(debug=debug):
        from rankwise.tasks import ranking as task  # noqa: PLC0415

        written = {"--write-run": write_run, "--write-qrels": write_qrels, "--out": out}
        for name, path in written.items():
            require_other(name, path, run, data)
        if run.is_file():
            if write_run is not None or write_qrels is not None:
                raise task.UsageError("--write-run and --write-qrels are for the folder of a run")
            queries, found = _judged_file(run, data, metrics or TREC, relevant)
        else:
            queries, found = _judged_lists(run, data, metrics or _METRICS, relevant,
                                           (write_run, write_qrels))  # fmt: skip
        show(task.results_table({data.name: found}))
        say(task.notes_of({data.name: found}))
        if out is not None:
            from rankwise.report import write_csv  # noqa: PLC0415

            rows = [
                {"query": query, **{n: _cell(j.values[place]) for n, j in found.items()}}
                for place, query in enumerate(queries)
            ]
            write_csv(out, rows)


app.command()(predict)
app.command()(compare)


def _judged_file(
    run: Path, qrels: Path, metrics: str, relevant: float | None
) -> tuple[list[str], dict[str, Any]]:
    from rankwise.data.letor import read_qrels  # noqa: PLC0415
    from rankwise.tasks import ranking as task  # noqa: PLC0415

    least, names = whole_relevance(relevant), names_of("metrics", metrics)
    judged = read_qrels(qrels)
    ranked, remarks = read_judged_run(run, judged, qrels)
    say(remarks, error=True)
    found = task.judged_run(ranked, judged, names, relevant=least)
    _say_tied(task.tied_run_queries(ranked, judged), "are ordered by document id, last first")
    return list(judged), found


def _judged_lists(
    folder: Path,
    data: Path,
    metrics: str,
    relevant: float | None,
    files: tuple[Path | None, Path | None],
) -> tuple[list[str], dict[str, Any]]:
    from rankwise.data.letor import read_letor, write_qrels, write_run  # noqa: PLC0415
    from rankwise.tasks import ranking as task  # noqa: PLC0415

    settings, ranker = task.load_run(folder)
    lists = read_letor(data)
    scores = task.scores_of(ranker, lists)
    names = names_of("metrics", metrics)
    least = settings.relevant if relevant is None else relevant
    found = task.judged(scores, lists, names, relevant=least)
    _say_tied(
        task.tied_queries(scores, lists),
        "count as the mean over their orders (ap: all as above); in a run file trec_eval, and "
        "rankwise with it, orders them by document id",
    )
    run, qrels = files
    if run is not None:
        write_run(run, task.as_run(lists, scores))
    if qrels is not None:
        write_qrels(qrels, task.as_qrels(lists))
    return list(lists.queries), found


def _say_tied(queries: int, rule: str) -> None:
    """How ties between documents of different relevance count, where there are any."""
    if queries:
        there = "1 query has" if queries == 1 else f"{queries} queries have"
        say([f"{there} documents of different relevance with one score: they {rule}"], error=True)


def _options(given: list[str]) -> dict[str, Any]:
    """``name=value`` pairs, the values as JSON or else as words."""
    from rankwise.errors import UsageError  # noqa: PLC0415

    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set must be name=value, such as epochs=50, got {text!r}")
        try:
            read = json.loads(value)
        except json.JSONDecodeError:
            read = value
        found[name.strip()] = tuple(read) if isinstance(read, list) else read
    return found


def _cell(value: float) -> float | str:
    return "" if value != value else float(value)  # noqa: PLR0124  (NaN)
