"""The commands that the image tasks share: config, configs, train and evaluate."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwise.commands.app import App, Out, Resume, add_config
from rankwise.commands.console import require_folder, require_other, say, show, steps_shown
from rankwise.settings import require_choice

if TYPE_CHECKING:
    from rankwise.data.detection import DetectionSplits
    from rankwise.data.images import BrokenImage, ClassSplits, RetrievalSplits
    from rankwise.report import Table
    from rankwise.tasks.classification import settings as classification
    from rankwise.tasks.detection import settings as detection
    from rankwise.tasks.retrieval import settings as retrieval
    from rankwise.vision.run import History, RunResult

    Splits = ClassSplits | DetectionSplits | RetrievalSplits
    Settings = classification.Settings | detection.Settings | retrieval.Settings

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


@dataclass(frozen=True)
class ImageTask:
    """The parts of an image task that its commands use."""

    settings: type[Settings]
    open_data: Callable[..., Splits]
    run: Callable[..., RunResult[object, History]]
    results_table: Callable[..., Table]
    # Settings that the images can fill, and a line for each change.
    fit_settings: Callable[..., tuple[Settings, list[str]]] = lambda settings, _: (settings, [])


def require_part(part: str) -> None:
    """Raise unless ``--part`` is a part of the data."""
    require_choice("--part", part, ("test", "validation", "train"))


def at_root(root: Path | None) -> list[str]:
    """Return the change of settings that ``--root`` is."""
    return [] if root is None else [f"data.root={json.dumps(str(root))}"]


def image_app(
    load: Callable[[], ImageTask],
    task: str,
    about: str,
    train_help: str,
    metric: str = "mAP",
) -> typer.Typer:
    """Return the commands that all image tasks have: config, configs and train.

    ``load`` imports the task, which takes seconds; ``train_help`` is the help of ``train``.
    """
    app = App(help=about)
    add_config(app, lambda: load().settings)

    @app.command()
    def configs() -> None:
        """Print the names of the configurations that ship with the package."""
        say(load().settings.shipped())

    @app.command(help=train_help, stopped=_STOPPED)
    def train(  # noqa: PLR0917  (a command line is called by names)
        config: Config,
        root: Root = None,
        change: Change = None,
        out: Out = Path("runs", task),
        resume: Resume = False,
        skip_broken: Broken = False,
        workers: Workers = 0,
    ) -> None:
        require_folder(out)
        if not resume:
            require_other("config.yaml in --out", out / "config.yaml", Path(config))
        parts = load()
        settings = parts.settings.read(config, [*(change or []), *at_root(root)])
        # Of a run that was stopped before its first validation nothing is kept.
        begun = out if resume and (out / "checkpoint.pt").exists() else None
        splits = parts.open_data(settings, run=begun, skip_broken=skip_broken)
        say(splits.describe().splitlines(), error=True)
        say(parts.fit_settings(settings, splits)[1], error=True)
        shown = "loss {task.fields[loss]}, validation " + metric + " {task.fields[value]}"
        steps = settings.training.steps
        with steps_shown("step {task.completed}/{task.total}", shown, steps) as advance:
            done = parts.run(
                splits,
                settings,
                out,
                resume=resume,
                workers=workers,
                on_broken=report_once() if skip_broken else None,
                on_step=advance,
            )
        if done.report is not None:
            show(parts.results_table(done.results))
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
