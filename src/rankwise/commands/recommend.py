"""``rankwise recommend``: recommenders trained on the metric they are evaluated by."""

from __future__ import annotations

from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from pydantic import Field

from rankwise.commands.app import App, add_config
from rankwise.commands.console import (
    require_folder,
    require_other,
    say,
    show,
    steps_shown,
    write_frame,
)
from rankwise.commands.options import Out, Resume, Run, names_of
from rankwise.errors import UsageError, foreign_errors
from rankwise.settings import Section
from rankwise.tasks import recommendation as task  # its modules are imported where they are used
from rankwise.tasks.recommendation.settings import Settings

if TYPE_CHECKING:
    from rankwise.data import interactions

app = App(help="Train a recommender on the metric it is evaluated by, and rank the whole catalog.")
add_config(app, lambda: Settings)

_STOPPED = "stopped; the same command with --resume continues after the last whole epoch"
_METRICS = "ndcg@10,recall@10,precision@10,map@10,pap@10,mrr"
_Format = Literal["auto", "ml-100k", "ml-1m", "ml-20m", "recbole", "adjacency", "columns"]


class ReadingOptions(Section):
    """Options for reading interactions."""

    format: _Format = Field(
        "auto", description=f"Layout of the data: {', '.join(get_args(_Format))}."
    )
    user_column: str | None = Field(None, description="User column (csv, tsv, parquet).")
    item_column: str | None = Field(None, description="Item column.")
    rating_column: str | None = Field(None, description="Rating column.")
    time_column: str | None = Field(None, description="Time column.")
    rating_range: str | None = Field(None, description="Valid range of the ratings, such as 1:5.")
    duplicates: Literal["error", "last"] = Field(
        "error", description="Repeated pairs of user and item: error, or last to keep the last row."
    )

    def read(self, path: Path) -> interactions.Interactions:
        """Read the interactions of a file."""
        from rankwise.data import interactions  # noqa: PLC0415  (needs an extra)

        asked = {name.removesuffix("_column"): value for name, value in self}
        if (text := self.rating_range) is not None:
            try:
                low, high = map(float, text.split(":"))
            except ValueError:
                raise UsageError(
                    f"--rating-range must be two numbers such as 1:5, got {text!r}"
                ) from None
            if not low < high:
                raise UsageError(f"--rating-range must go upwards, got {text!r}")
            asked["rating_range"] = (low, high)
        return interactions.read_interactions(path, **asked)


@app.command(stopped=_STOPPED, trains=True)
def train(  # noqa: PLR0917  (a command line is called by names)
    data: Path,
    settings: Settings,
    reading: ReadingOptions,
    validation_file: Path | None = None,
    test_file: Path | None = None,
    user_features: Path | None = None,
    item_features: Path | None = None,
    metrics: str = _METRICS,
    out: Out = Path("runs/recommend"),
    resume: Resume = False,
) -> None:
    """Train on interactions, keep the best epoch on validation, evaluate it on the test part.

    Args:
        data: u.data, ratings.dat, ratings.csv, *.inter, csv, tsv, parquet, txt, or its folder.
        validation_file: Validation part of a published split. Default: a part of the data.
        test_file: Test part of a published split. Default: a part of the data.
        user_features: User features (csv, parquet or .user; ids in the first column), for
            two_tower.
        item_features: Item features (csv, parquet or .item; ids in the first column), for
            two_tower.
        metrics: Metrics to report, separated by commas.
    """
    from rankwise.data import interactions  # noqa: PLC0415  (needs an extra)

    require_folder(out)
    files = {"validation": validation_file, "test": test_file}
    inputs = (data, *files.values(), user_features, item_features)
    require_other("metrics.csv in --out", out / "metrics.csv", *inputs)
    found = reading.read(data)
    parts = {name: reading.read(path) for name, path in files.items() if path is not None}
    if parts:
        found = interactions.join_parts(found, **parts)
    sides = ((user_features, found.users), (item_features, found.items))
    read = interactions.read_features
    features = (None if path is None else read(path, ids) for path, ids in sides)
    problem = task.prepared(found, settings, *features)
    _say_what(problem.counts(), found.replaced)
    say(problem.remarks, error=True)
    names = names_of("metrics", metrics)
    shown = "loss {task.fields[loss]}  " + settings.metric + " {task.fields[value]}"
    with steps_shown("epoch {task.fields[epoch]}", shown) as advance:
        finished = task.run(
            problem,
            settings,
            out,
            metrics=names,
            source=" ".join(map(str, (data, *filter(None, files.values())))),
            resume=resume,
            on_step=advance,
            on_training=lambda words: say([words], error=True),
        )
    if finished.report is None or finished.verdict is None:  # the first process says it
        return
    show(task.results_table(finished.results))
    said = [*task.notes_of(finished.results), finished.trained.course()]
    say([*said, *finished.verdict.lines(), str(finished.report)])


@app.command()
def evaluate(
    run: Run,
    reading: ReadingOptions,
    data: Path | None = None,
    metrics: str = _METRICS,
    out: Path | None = None,
) -> None:
    """Evaluate a finished run on its test part, or on later interactions.

    Args:
        data: Later interactions to evaluate on. Default: the run's own test part.
        metrics: Metrics to report, separated by commas.
        out: csv file for the metrics per user.
    """
    import polars as pl  # noqa: PLC0415

    require_other("--out", out, data)
    later = None if data is None else reading.read(data)
    found = task.evaluate_run(run, metrics=names_of("metrics", metrics), data=later)
    show(task.results_table(found))
    say(task.notes_of(found))
    if out is not None:
        values = {name: each.numpy() for name, each in found["model"].values.items()}
        frame = pl.DataFrame({"user": task.load_run(run)[1].users, **values})
        write_frame(frame.fill_nan(None), out)
        say([f"{frame.height:,} users: {out}"], error=True)


@app.command()
def topk(
    run: Run,
    k: int = 10,
    users: str | None = None,
    include_seen: bool = False,
    out: Path | None = None,
) -> None:
    """Recommend to every user, or to some, the top k items that they have not seen.

    Users whom the model does not know get the popular items: see the column source.

    Args:
        k: Number of items per user.
        users: User ids separated by commas, or a file with one id per line.
        include_seen: Include items that the user already interacted with.
        out: File to write: .csv or .parquet. Default: print csv.
    """
    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise UsageError(f"--out must end in .csv or .parquet, got {out}")
    require_other("--out", out, None if users is None else Path(users))
    frame = task.recommend(run, k=k, users=_ids(users), seen=include_seen)
    write_frame(frame, out)
    users_found = frame["user"].n_unique()
    counts = f"{users_found} user{'s' * (users_found != 1)}, {frame.height} rows"
    said = [counts if out is None else f"{counts}: {out}"]
    unknown = frame.filter(source="popular")["user"].unique(maintain_order=True).to_list()
    if unknown:  # a few ids show where they were only misspelled
        shown = ", ".join(map(repr, unknown[:5])) + (", …" if len(unknown) > 5 else "")
        who = "1 user is" if len(unknown) == 1 else f"{len(unknown)} users are"
        said.append(f"{who} unknown to the model and get popular items: {shown}")
    say(said, error=True)


def _ids(text: str | None) -> list[str] | None:
    if text is None:
        return None
    # Path.is_file would fail where the ids are longer than the name of a file can be.
    lines = text.split(",")
    if isfile(text):
        with foreign_errors(f"{text}: cannot be read as ids, one per line"):
            lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
    return [line.strip() for line in lines if line.strip()]


def _say_what(counts: dict[str, int], replaced: int) -> None:
    """What there is, and everything that is not as one would expect."""
    said = [f"{counts['interactions']:,} interactions of {counts['users']:,} users with "
            f"{counts['items']:,} items, {counts['positives']:,} of them positive"]  # fmt: skip
    said += [
        f"{number:,} {what}"
        for what, number in counts.items()
        if number and (" without " in what or " too few " in what)
    ]
    if replaced:
        said.append(f"{replaced:,} rows left out, whose pair came again later")
    say(said, error=True)
