"""``rankwise recommend``: recommenders trained on the metric they are judged by."""

from __future__ import annotations

import io
import sys
from os.path import isfile
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from rankwise.commands.app import App
from rankwise.commands.guard import Debug
from rankwise.commands.interactions import (
    Duplicates,
    Format,
    ItemColumn,
    RatingColumn,
    RatingRange,
    TimeColumn,
    UserColumn,
    read,
)
from rankwise.commands.options import Out, Resume, Run, add_config, takes_settings
from rankwise.commands.outputs import require_folder, require_other
from rankwise.commands.shared import names_of, one_line, progress_bar, say, show
from rankwise.tasks.recommendation.settings import Settings

app = App()
add_config(app, lambda: Settings)

_STOPPED = "stopped; the same command with --resume continues after the last whole epoch"
_METRICS = "ndcg@10,recall@10,precision@10,map@10,pap@10,mrr"

Data = Annotated[
    Path,
    typer.Argument(help="u.data, ratings.dat, ratings.csv, *.inter, csv, parquet, or its folder."),
]
Metrics = Annotated[str, typer.Option(help="Metrics to report, separated by commas.")]


@app.callback()
def recommend() -> None:
    """Train a recommender on the metric it is judged by, and rank the whole catalog."""


@app.command()
@takes_settings(Settings, stopped=_STOPPED)
def train(  # noqa: PLR0917  (a command line is called by names)
    data: Data,
    settings: Settings,
    user_features: Annotated[
        Path | None,
        typer.Option(
            help="User features (csv, parquet or .user; ids in the first column), for two_tower."
        ),
    ] = None,
    item_features: Annotated[
        Path | None,
        typer.Option(
            help="Item features (csv, parquet or .item; ids in the first column), for two_tower."
        ),
    ] = None,
    metrics: Metrics = _METRICS,
    format: Format = "auto",
    user_column: UserColumn = None,
    item_column: ItemColumn = None,
    rating_column: RatingColumn = None,
    time_column: TimeColumn = None,
    rating_range: RatingRange = None,
    duplicates: Duplicates = "error",
    out: Out = Path("runs/recommend"),
    resume: Resume = False,
    debug: Debug = False,
) -> None:
    """Train on interactions, keep the best epoch on validation, measure the test part."""
    from rankwise.data.interactions import read_features  # noqa: PLC0415  (seconds to import)
    from rankwise.tasks import recommendation as task  # noqa: PLC0415

    require_folder(out)
    inputs = (data, user_features, item_features)
    require_other("metrics.csv in --out", out / "metrics.csv", *inputs)
    columns = (user_column, item_column, rating_column, time_column)
    found = read(data, format, columns, rating_range, duplicates)
    problem = task.prepared(
        found,
        settings,
        None if user_features is None else read_features(user_features, found.users),
        None if item_features is None else read_features(item_features, found.items),
    )
    _say_what(problem.counts(), found.replaced)
    with progress_bar(
        TextColumn("epoch {task.fields[epoch]}"),
        BarColumn(),
        TextColumn("loss {task.fields[loss]}  {task.fields[metric]} {task.fields[value]}"),
        TimeElapsedColumn(),
    ) as progress:
        bar = progress.add_task(
            "", total=None, epoch=0, loss="–", value="–", metric=settings.metric
        )

        def advance(step: task.Step) -> None:
            progress.update(
                bar,
                total=step.steps_of_epoch,
                completed=step.step_of_epoch,
                epoch=step.epoch,
                loss=f"{step.loss:.4f}",
                value="–" if step.value != step.value else f"{step.value:.4f}",
            )

        finished = task.run(
            problem,
            settings,
            out,
            metrics=names_of("metrics", metrics),
            source=str(data),
            resume=resume,
            on_step=advance,
        )
    show(task.results_table(finished.results))
    say(task.notes_of(finished.results))
    say([task.course(settings, finished.trained), *finished.verdict.lines()])
    say([str(finished.page)])


@app.command()
def evaluate(  # noqa: PLR0917
    run: Run,
    data: Annotated[
        Path | None,
        typer.Option(help="Later interactions to evaluate on. Default: the run's own test part."),
    ] = None,
    metrics: Metrics = _METRICS,
    format: Format = "auto",
    user_column: UserColumn = None,
    item_column: ItemColumn = None,
    rating_column: RatingColumn = None,
    time_column: TimeColumn = None,
    rating_range: RatingRange = None,
    duplicates: Duplicates = "error",
    out: Annotated[Path | None, typer.Option(help="csv file for the metrics per user.")] = None,
    debug: Debug = False,
) -> None:
    """Measure a finished run: its test part, or interactions that came later."""
    with one_line(debug=debug):
        from rankwise.report import write_csv  # noqa: PLC0415
        from rankwise.tasks import recommendation as task  # noqa: PLC0415

        require_other("--out", out, data)
        columns = (user_column, item_column, rating_column, time_column)
        later = None if data is None else read(data, format, columns, rating_range, duplicates)
        found = task.evaluate_run(run, metrics=names_of("metrics", metrics), data=later)
        show(task.results_table(found))
        say(task.notes_of(found))
        if out is not None:
            users = task.load_run(run)[1].users
            values = {name: v.tolist() for name, v in found["model"].values.items()}
            rows = [
                {"user": user, **{m: _cell(v[n]) for m, v in values.items()}}
                for n, user in enumerate(users)
            ]
            write_csv(out, rows)


@app.command()
def topk(  # noqa: PLR0917
    run: Run,
    k: Annotated[int, typer.Option(help="Number of items per user.")] = 10,
    users: Annotated[
        str | None,
        typer.Option(help="User ids separated by commas, or a file with one id per line."),
    ] = None,
    include_seen: Annotated[
        bool,
        typer.Option("--include-seen", help="Include items that the user already interacted with."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="File to write: .csv or .parquet. Default: print csv.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Recommend the top k items to every user, or to some, that they had not seen.

    Users whom the model does not know get the popular items: see the column source.
    """
    with one_line(debug=debug):
        from rankwise.report import write_whole  # noqa: PLC0415
        from rankwise.tasks import recommendation as task  # noqa: PLC0415

        if out is not None and out.suffix not in (".csv", ".parquet"):
            raise task.UsageError(f"--out must end in .csv or .parquet, got {out}")
        require_other("--out", out, None if users is None else Path(users))
        frame = task.recommend(run, k=k, users=_ids(users), seen=include_seen)
        buffer = io.BytesIO()
        if out is not None and out.suffix == ".parquet":
            frame.write_parquet(buffer)
        else:
            frame.write_csv(buffer)
        if out is None:
            sys.stdout.write(buffer.getvalue().decode())
        else:
            write_whole(out, buffer.getvalue())
        counts = f"{frame['user'].n_unique()} users, {frame.height} rows"
        say([counts if out is None else f"{counts}: {out}"], error=True)
        _say_unknown(frame.filter(source="popular")["user"].unique(maintain_order=True).to_list())


def _say_unknown(users: list[str]) -> None:
    """Who got the popular items; a few ids show where they were only misspelled."""
    if users:
        shown = ", ".join(map(repr, users[:5])) + (", …" if len(users) > 5 else "")
        who = "1 user is" if len(users) == 1 else f"{len(users)} users are"
        say([f"{who} unknown to the model, popular items instead: {shown}"], error=True)


def _ids(text: str | None) -> list[str] | None:
    if text is None:
        return None
    # Path.is_file would fail where the ids are longer than the name of a file can be.
    lines = Path(text).read_text().splitlines() if isfile(text) else text.split(",")
    return [line.strip() for line in lines if line.strip()]


def _cell(value: float) -> float | str:
    return "" if value != value else value  # noqa: PLR0124  (NaN)


def _say_what(counts: dict[str, int], replaced: int) -> None:
    """What there is, and everything that is not as one would expect."""
    said = [f"{counts['interactions']:,} interactions of {counts['users']:,} users with "
            f"{counts['items']:,} items, {counts['positives']:,} of them positive"]  # fmt: skip
    said += [
        f"{number:,} {what}"
        for what, number in counts.items()
        if number and (" without " in what or " too few " in what or "nobody" in what)
    ]
    if replaced:
        said.append(f"{replaced:,} rows left out, whose pair came again later")
    say(said, error=True)
