"""Options and the training command that the image tasks share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Generic, Protocol, TypeVar

import typer
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

from rankwise.commands.app import App
from rankwise.commands.guard import Debug
from rankwise.commands.options import Out, Resume, add_config
from rankwise.commands.outputs import require_folder, require_other
from rankwise.commands.shared import one_line, progress_bar, say, show

if TYPE_CHECKING:
    from rankwise.data.images import BrokenImage
    from rankwise.report import Table
    from rankwise.report.verdict import Verdict
    from rankwise.tasks.classification import settings as classification
    from rankwise.tasks.detection import settings as detection
    from rankwise.tasks.retrieval import settings as retrieval
    from rankwise.training import Step

_STOPPED = "stopped; the same command with --resume continues after the last validation"

Config = Annotated[
    str, typer.Argument(help="YAML file, or the name of a configuration listed by `configs`.")
]
Root = Annotated[Path | None, typer.Option(help="Folder of the images; overrides data.root.")]
Change = Annotated[
    list[str] | None,
    typer.Option("--set", help="Setting to override, such as training.steps=500; may be repeated."),
]
Part = Annotated[str, typer.Option(help="Part of the data: test, validation or train.")]
Workers = Annotated[int, typer.Option(min=0, help="Number of processes that load images.")]
Broken = Annotated[bool, typer.Option("--skip-broken", help="Skip images that cannot be read.")]


class _Splits(Protocol):
    def describe(self) -> str: ...


class _Best(Protocol):
    @property
    def best_step(self) -> int: ...


Settings = TypeVar(
    "Settings", "classification.Settings", "detection.Settings", "retrieval.Settings"
)
Splits = TypeVar("Splits", bound=_Splits)
Results = TypeVar("Results")
Results_contra = TypeVar("Results_contra", contravariant=True)
Results_co = TypeVar("Results_co", covariant=True)


class _Finished(Protocol[Results_co]):
    @property
    def results(self) -> Results_co: ...
    @property
    def trained(self) -> _Best: ...
    @property
    def report(self) -> Path | None: ...
    @property
    def verdict(self) -> Verdict | None: ...


class _Pipeline(Protocol[Settings, Splits, Results_co]):
    def open_data(
        self, settings: Settings, *, run: Path | None = None, skip_broken: bool = False
    ) -> Splits: ...
    def fit_settings(self, settings: Settings, splits: Splits) -> tuple[Settings, list[str]]: ...
    def run(
        self,
        splits: Splits,
        settings: Settings,
        out: Path,
        *,
        resume: bool = False,
        workers: int = 0,
        on_broken: Callable[[BrokenImage], None] | None = None,
        on_step: Callable[[Step], None] = lambda step: None,
    ) -> _Finished[Results_co]: ...


class _Report(Protocol[Results_contra]):
    def results_table(self, results: Results_contra) -> Table: ...


@dataclass(frozen=True)
class Modules(Generic[Settings, Splits, Results]):
    """The settings and modules of a task that its command uses."""

    settings: type[Settings]
    pipeline: _Pipeline[Settings, Splits, Results]
    report: _Report[Results]


def at_root(root: Path | None) -> list[str]:
    """The change of settings that ``--root`` is."""

    return [] if root is None else [f"data.root={json.dumps(str(root))}"]


def image_app(
    load: Callable[[], Modules[Settings, Splits, Results]],
    task: str,
    about: str,
    train_help: str,
    metric: str = "mAP",
) -> typer.Typer:
    """A command that trains on images, with the two of its parts that are the same for every task.

    ``load`` imports the modules of the task, which takes seconds; ``train_help`` is the help
    of ``train``.
    """
    app = App(help=about)
    add_config(app, lambda: load().settings)

    @app.command()
    def configs() -> None:
        """Print the names of the configurations that ship with the package."""
        say(load().settings.shipped())

    @app.command(help=train_help)
    def train(  # noqa: PLR0917  (a command line is called by names)
        config: Config,
        root: Root = None,
        change: Change = None,
        out: Out = Path("runs", task),
        resume: Resume = False,
        skip_broken: Broken = False,
        workers: Workers = 0,
        debug: Debug = False,
    ) -> None:
        with one_line(debug=debug, stopped=_STOPPED):
            require_folder(out)
            if not resume:
                require_other("config.yaml in --out", out / "config.yaml", Path(config))
            modules = load()
            pipeline = modules.pipeline
            settings = modules.settings.read(config, [*(change or []), *at_root(root)])
            # Of a run that was stopped before its first validation nothing is kept.
            begun = out if resume and (out / "checkpoint.pt").exists() else None
            splits = pipeline.open_data(settings, run=begun, skip_broken=skip_broken)
            say(splits.describe().splitlines(), error=True)
            say(pipeline.fit_settings(settings, splits)[1], error=True)
            with steps_shown(settings.training.steps, metric) as advance:
                done = pipeline.run(
                    splits,
                    settings,
                    out,
                    resume=resume,
                    workers=workers,
                    on_broken=report_once() if skip_broken else None,
                    on_step=advance,
                )
            if done.report is not None:
                show(modules.report.results_table(done.results))
                step = done.trained.best_step
                kept = f"after step {step}" if step else "before training"
                said: list[str] = [] if done.verdict is None else done.verdict.lines()
                say([f"kept: the network {kept}", *said, str(done.report)])

    return app


def report_once() -> Callable[[BrokenImage], None]:
    """Return a function that reports each image that cannot be read, once."""
    reported: set[Path] = set()

    def report(broken: BrokenImage) -> None:
        if broken.path not in reported:
            reported.add(broken.path)
            say([f"{broken}; left out"], error=True)

    return report


@contextmanager
def steps_shown(steps: int, metric: str) -> Iterator[Callable[[Step], None]]:
    """A bar over the steps, with the loss and the last validation; gives what moves it."""
    with progress_bar(
        TextColumn("step {task.completed}/{task.total}"),
        BarColumn(),
        TextColumn("loss {task.fields[loss]}, validation " + metric + " {task.fields[value]}"),
        TimeRemainingColumn(),
    ) as progress:
        bar = progress.add_task("", total=steps, loss="–", value="–")

        def advance(step: Step) -> None:
            value = "–" if math.isnan(step.value) else f"{step.value:.4f}"
            progress.update(bar, completed=step.step, loss=f"{step.loss:.4f}", value=value)

        yield advance
