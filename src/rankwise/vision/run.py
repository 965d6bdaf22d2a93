"""A run of an image task: its training, folder, result and report, and what to try next."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypedDict, TypeVar, Unpack

import torch
from torch import nn

from rankwise.data.images import Recorded
from rankwise.errors import UsageError
from rankwise.report import Section, settings_section, write_html
from rankwise.report.elements import Markup, pair
from rankwise.report.plots import line_chart
from rankwise.report.verdict import Validation, Verdict, lower_rate
from rankwise.settings import TaskSettings, require_choice
from rankwise.training import (
    CHECKPOINT,
    Callback,
    Devices,
    Fitted,
    RunFolder,
    Step,
    fit,
    open_folder,
)
from rankwise.training.checkpoint import flat_settings
from rankwise.training.settings import EarlyStoppedTraining
from rankwise.training.trainer import AnyTask
from rankwise.vision.files import write_config, write_split
from rankwise.vision.image_dataset import OnBroken
from rankwise.vision.settings import ImageData
from rankwise.vision.task import ImageSettings

_BATCH_NORM = ("small", "resnet", "mobilenet_v2")

Result_co = TypeVar("Result_co", covariant=True)
Network_co = TypeVar("Network_co", bound=nn.Module, covariant=True)


@dataclass(frozen=True)
class Trained(Fitted, Generic[Network_co]):
    """The network of the best validation, and the result of its training."""

    network: Network_co


History = Trained[nn.Module]
Course_co = TypeVar("Course_co", bound=History, covariant=True)


@dataclass(frozen=True)
class RunResult(Generic[Result_co, Course_co]):
    """Test results by network, the training, and the report; None in all but the first process."""

    results: dict[str, Result_co]
    trained: Course_co
    report: Path | None = None
    verdict: Verdict | None = None


def default_device() -> torch.device:
    """Return a GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def require_data(data: ImageData, kinds: Sequence[str]) -> None:
    """Raise unless the settings name a known kind of data and where it is."""
    require_choice("data.kind", data.kind, kinds)
    if not data.root:
        raise UsageError("data.root must say where the images are; --root FOLDER does, too")


class ImageOptions(TypedDict, total=False):
    """Options of a training that are not settings: they change no number."""

    resume: bool  # continue the run in the folder
    device: torch.device | None
    on_step: Callable[[Step], None]
    workers: int  # processes that load images
    on_broken: OnBroken | None  # called with images that cannot be read; None: raise


def fit_images(
    make_task: Callable[..., AnyTask],
    out: Path | RunFolder | None,
    command: str,
    precision: str = "32",
    **options: Unpack[ImageOptions],
) -> tuple[AnyTask, Fitted]:
    """Train from the start, or with ``resume`` from the last checkpoint in ``out``, if any.

    ``make_task`` is called with the place of the process and the options of loading images. A
    resumed run ends with the same bits as one that was never stopped. With ``out`` every validation
    leaves a checkpoint and ``metrics.csv`` there. The caller's random numbers are not touched.
    """
    loading = {name: v for name, v in options.items() if name in ("workers", "on_broken")}
    return fit(
        lambda place: make_task(place, **loading),
        out,
        command,
        resume=options.get("resume", False),
        precision=precision,
        device=options.get("device"),
        callbacks=[Callback(on_step=options["on_step"])] if "on_step" in options else [],
    )


@contextmanager
def image_run(
    out: Path,
    command: str,
    settings: TaskSettings,
    record: Sequence[Recorded] = (),
    **options: Unpack[ImageOptions],
) -> Iterator[RunFolder | None]:
    """Open the folder of a run in the first process, with its settings and split; finish it."""
    devices = Devices(device=options.get("device"))
    resume = options.get("resume", False)
    with open_folder(out, command, resume=resume, devices=devices) as folder:
        if folder is not None and folder.read(CHECKPOINT) is None:
            write_config(folder, settings)
            write_split(folder, record)
        yield folder
        if folder is not None:
            folder.finish()


def require_part(images: Sized, part: str) -> None:
    """Raise where a part of the data has no images."""
    if len(images) == 0:
        raise UsageError(
            f"there are no {part} images in the split of this data; evaluate another part"
        )


def validation_of(trained: History, metric: str) -> Validation | None:
    """Return the values of a metric over a training; None where there was no validation."""
    values = [row[metric] for row in trained.history if metric in row]
    return Validation(trained.start, values, trained.best_step) if values else None


def image_advice(settings: ImageSettings, trained: History, warm_start: str) -> list[str]:
    """Return changes of settings to try, the most likely one first.

    ``warm_start`` is the loss of a warm start.
    """
    network, training, kept = settings.network, settings.training, trained.best_step
    steps = training.steps
    advice = [lower_rate("optimizer.learning_rate", settings.optimizer.learning_rate)]
    some = max(1, steps // 10)
    if getattr(training, "warm_up", None) == 0:  # that not every task has
        advice.append(f"a warm-up of the rate, training.warm_up={some}")
    if settings.objective.warm_start == 0:
        advice.append(f"a warm start by {warm_start}, objective.warm_start={some}")
    pretrained = network.weights is not None
    if pretrained and network.backbone in _BATCH_NORM and not network.freeze_batch_norm:
        advice.append("batch norms as they were trained, network.freeze_batch_norm=true")
    if not pretrained:
        advice.append("a pretrained backbone, network.backbone and network.weights")
    if 0 < kept < steps:
        advice.append(f"fewer steps, training.steps={kept}: validation was best there")
    elif math.isnan(trained.start):  # there was no validation to say when it was best
        advice.append(f"fewer steps, training.steps={max(1, steps // 2)}")
    elif kept == 0 and isinstance(training, EarlyStoppedTraining) and training.patience is None:
        advice.append("an end as soon as validation falls, training.patience=3")
    return advice


def write_report(
    out: Path,
    title: str,
    sections: Sequence[Section],
    *,
    command: str,
    training: Section,
    data: Sequence[str],
    settings: TaskSettings,
    verdict: Verdict,
) -> Path:
    """Write ``index.html``, and return its path."""
    settings_shown = {name: str(value) for name, value in flat_settings(settings.plain())}
    sections = [
        *sections,
        training,
        Section("Data", list(data)),
        settings_section(settings_shown),
    ]
    headline = verdict.headline()
    return write_html(out / "index.html", title, sections, headline=headline, command=command)


def curve_figure(trained: History, metric: str = "map") -> Markup:
    """Plot the loss and a metric of validation over the steps."""
    steps = [row["step"] for row in trained.history]
    losses = [row["loss"] for row in trained.history]
    words = f"The loss over {int(steps[-1])} steps, {losses[0]:.3f} to {losses[-1]:.3f}."
    validated = metric in trained.history[-1]
    y, shown = "mean loss of the batches", {"loss": (steps, losses)}
    figures = [line_chart("step", y, shown, words, small=validated)]
    if validated:
        values = [row[metric] for row in trained.history]
        if math.isfinite(trained.start):
            steps, values = [0, *steps], [trained.start, *values]
        when = f"after step {trained.best_step}" if trained.best_step else "before training"
        name = metric.replace("ap", "AP")
        words = f"{name} on validation; the best, {when}, was kept."
        kept = (trained.best_step, max((v for v in values if not math.isnan(v)), default=math.nan))
        shown = {name: (steps, values)}
        figures.append(line_chart("step", name, shown, words, kept=kept, small=True))
    return pair(figures) if validated else figures[0]
