"""What the commands that train on images share: their options, training, its bar, complaints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from rankwise.commands.app import App
from rankwise.commands.console import complaints
from rankwise.commands.guard import Debug
from rankwise.commands.outputs import require_folder, require_other
from rankwise.commands.shared import one_line, say, show

if TYPE_CHECKING:
    from rankwise.data.images import BrokenImage

__all__ = [
    "Broken",
    "Change",
    "Config",
    "Part",
    "Resume",
    "Root",
    "Run",
    "StepLike",
    "Workers",
    "at_root",
    "image_app",
    "steps_shown",
    "tell_once",
]

_STOPPED = "stopped; the same command with --resume goes on after the last validation"

Config = Annotated[str, typer.Argument(help="A file of yaml, or a name of `configs`.")]
Root = Annotated[Path | None, typer.Option(help="Where the images are, in place of data.root.")]
Change = Annotated[
    list[str] | None,
    typer.Option("--set", help="section.name=value, such as training.steps=500."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Continue the run in the folder, if there is one.")
]
Part = Annotated[str, typer.Option(help="test, validation or train.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes that read images.")]
Broken = Annotated[
    bool, typer.Option("--skip-broken", help="Go on without images that cannot be read.")
]
Run = Annotated[Path, typer.Argument(help="Folder of a finished run.")]


class StepLike(Protocol):
    """What a training says of each of its steps; the value is NaN before any validation."""

    @property
    def step(self) -> int: ...
    @property
    def loss(self) -> float: ...
    @property
    def value(self) -> float: ...


def at_root(root: Path | None) -> list[str]:
    """The change of settings that ``--root`` is."""
    from rankwise.tasks.retrieval.config import quoted  # noqa: PLC0415  (seconds to import)

    return [] if root is None else [f"data.root={quoted(str(root))}"]


def image_app(task: str, about: str, judged: str, metric: str = "mAP") -> typer.Typer:
    """A command that trains on images, with the two of its parts that are the same for every task.

    ``task`` is a folder of :mod:`rankwise.tasks`, ``judged`` what ``train`` says of itself.
    """
    app = App(help=about)

    def part(name: str) -> Any:
        return import_module(f"rankwise.tasks.{task}.{name}")  # takes seconds

    @app.command()
    def configs() -> None:
        """The configurations that ship with the package, by name."""
        say(part("config").shipped())

    @app.command(help=judged)
    def train(  # noqa: PLR0917  (a command line is called by names)
        config: Config,
        root: Root = None,
        change: Change = None,
        out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("runs", task),
        resume: Resume = False,
        skip_broken: Broken = False,
        workers: Workers = 0,
        debug: Debug = False,
    ) -> None:
        with one_line(debug=debug, stopped=_STOPPED):
            require_folder(out)
            if not resume:
                require_other("config.yaml in --out", out / "config.yaml", Path(config))
            running = part("running")
            settings = part("config").read_settings(config, [*(change or []), *at_root(root)])
            # Of a run that was stopped before its first validation nothing is kept.
            begun = out if resume and (out / "checkpoint.pt").exists() else None
            splits = running.open_data(settings, run=begun, skip_broken=skip_broken)
            say(splits.describe().splitlines(), error=True)
            say(running.fit_settings(settings, splits)[1], error=True)
            with steps_shown(settings.training.steps, metric) as advance:
                done = running.run(
                    splits,
                    settings,
                    out,
                    resume=resume,
                    workers=workers,
                    told=tell_once() if skip_broken else None,
                    on_step=advance,
                )
            if done.page is not None:
                show(part("page").results_table(done.results))
                step = done.trained.best_step
                kept = f"after step {step}" if step else "before training"
                say([f"kept: the network {kept}", *done.verdict.lines(), str(done.page)])

    return app


def tell_once() -> Callable[[BrokenImage], None]:
    """Say of every image that cannot be read, once."""
    told: set[Path] = set()

    def tell(broken: BrokenImage) -> None:
        if broken.path not in told:
            told.add(broken.path)
            say([f"{broken}; left out"], error=True)

    return tell


@contextmanager
def steps_shown(steps: int, metric: str) -> Iterator[Callable[[StepLike], None]]:
    """A bar over the steps, with the loss and the last validation; gives what moves it."""
    console = complaints()
    with Progress(
        TextColumn("step {task.completed}/{task.total}"),
        BarColumn(),
        TextColumn("loss {task.fields[loss]}, validation " + metric + " {task.fields[value]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,  # a file or a pipe would get an empty line
    ) as progress:
        bar = progress.add_task("", total=steps, loss="–", value="–")

        def advance(step: StepLike) -> None:
            value = "–" if math.isnan(step.value) else f"{step.value:.4f}"
            progress.update(bar, completed=step.step, loss=f"{step.loss:.4f}", value=value)

        yield advance
