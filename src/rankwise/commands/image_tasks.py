"""The commands that the image tasks share: config, configs, train and evaluate."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from rankwise.commands.app import App, add_config
from rankwise.commands.console import require_folder, require_other, say, show, steps_shown
from rankwise.commands.options import Out, Resume
from rankwise.settings import require_choice

if TYPE_CHECKING:
    from rankwise.data.images import BrokenImage
    from rankwise.settings import TaskSettings

_Settings = TypeVar("_Settings", bound="TaskSettings")
_STOPPED = "stopped; the same command with --resume continues after the last validation"

Config = Annotated[
    str,
    typer.Argument(
        help="Folder of images, YAML file, or name of a configuration listed by `configs`."
    ),
]
Root = Annotated[Path | None, typer.Option(help="Folder of the images; overrides data.root.")]
Change = Annotated[
    list[str] | None,
    typer.Option("--set", help="Setting to override, such as training.steps=500; may be repeated."),
]
Part = Annotated[str, typer.Option(help="Part of the data: test, validation or train.")]
Workers = Annotated[int, typer.Option(min=0, help="Number of processes that load images.")]
Broken = Annotated[bool, typer.Option("--skip-broken", help="Skip images that cannot be read.")]


def require_part(part: str) -> None:
    """Raise unless ``--part`` is a part of the data."""
    require_choice("--part", part, ("test", "validation", "train"))


def at_root(root: Path | None) -> list[str]:
    """Return the change of settings that ``--root`` is."""
    return [] if root is None else [f"data.root={json.dumps(str(root))}"]


def read_settings(kind: type[_Settings], source: str, changes: Sequence[str]) -> _Settings:
    """Read a configuration; of a folder, the defaults with the folder as their data.

    The name of a configuration that ships comes before a folder of that name.
    """
    if Path(source).is_dir() and source not in kind.shipped():
        return kind.changed({"data": {"root": source}}, changes)
    return kind.read(source, changes)


def image_app(task: ModuleType, about: str, train_help: str, metric: str = "mAP") -> typer.Typer:
    """Return the commands that all image tasks have: config, configs and train.

    ``task`` is the package, whose modules are imported where they are used, which takes seconds;
    ``train_help`` is the help of ``train``.
    """
    app, folder = App(help=about), Path("runs", task.__name__.rpartition(".")[2])
    add_config(app, lambda: task.Settings)

    @app.command()
    def configs() -> None:
        """Print the names of the configurations that ship with the package."""
        say(task.Settings.shipped())

    @app.command(help=train_help, stopped=_STOPPED, trains=True)
    def train(  # noqa: PLR0917  (a command line is called by names)
        config: Config,
        root: Root = None,
        change: Change = None,
        out: Out = folder,
        resume: Resume = False,
        skip_broken: Broken = False,
        workers: Workers = 0,
    ) -> None:
        require_folder(out)
        if not resume:
            require_other("config.yaml in --out", out / "config.yaml", Path(config))
        settings = read_settings(task.Settings, config, [*(change or []), *at_root(root)])
        # Of a run that was stopped before its first validation nothing is kept.
        begun = out if resume and (out / "checkpoint.pt").exists() else None
        splits = task.open_data(settings, run=begun, skip_broken=skip_broken)
        say(splits.describe().splitlines(), error=True)
        if hasattr(task, "fit_settings"):  # to batches that the images can fill
            say(task.fit_settings(settings, splits)[1], error=True)
        shown = "loss {task.fields[loss]}, validation " + metric + " {task.fields[value]}"
        steps = settings.training.steps
        with steps_shown("step {task.completed}/{task.total}", shown, steps) as advance:
            done = task.run(
                splits,
                settings,
                out,
                resume=resume,
                workers=workers,
                on_broken=report_once() if skip_broken else None,
                on_step=advance,
            )
        if done.report is not None:
            show(task.results_table(done.results))
            step = done.trained.best_step
            kept = f"after step {step}" if step else "before training"
            said = [] if done.verdict is None else done.verdict.lines()
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
