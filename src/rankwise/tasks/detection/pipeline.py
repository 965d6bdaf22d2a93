"""A whole run: train, evaluate on the test images, write, and load what was written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

from rankwise.data.detection import KINDS, DetectionSplits, open_detection
from rankwise.errors import UsageError
from rankwise.report import write_json
from rankwise.report.verdict import verdict
from rankwise.tasks.detection.dataset import Cache
from rankwise.tasks.detection.evaluate import Result, best_thresholds, detect_all, evaluate
from rankwise.tasks.detection.network import Detector, make_detector
from rankwise.tasks.detection.report import write_report
from rankwise.tasks.detection.settings import Settings
from rankwise.tasks.detection.task import TrainedDetector, train
from rankwise.vision import files
from rankwise.vision.files import CONFIG
from rankwise.vision.run import (
    ImageOptions,
    RunResult,
    default_device,
    image_advice,
    image_run,
    require_data,
    validation_of,
)

_CLASSES = "classes.json"


@dataclass(frozen=True)
class FinishedRun:
    """Settings, detector, names of the classes, and the logit from which each class is drawn."""

    settings: Settings
    network: Detector
    classes: tuple[str, ...]
    thresholds: tuple[float, ...]


def write_model(
    out: Path, network: Detector, classes: tuple[str, ...], thresholds: list[float]
) -> None:
    """Write ``model.safetensors``, and ``classes.json`` with names and thresholds."""
    write_json(out / _CLASSES, {"classes": list(classes), "thresholds": thresholds})
    files.write_model(out, network, network.features)


def load_run(out: Path, changes: Sequence[str] = ()) -> FinishedRun:
    """Load the detector of a finished run, in evaluation mode, and its settings after changes."""
    files.require_finished(out, _CLASSES)
    settings = Settings.read(out / CONFIG, changes)
    try:
        known = json.loads((out / _CLASSES).read_text())
        classes = tuple(map(str, known["classes"]))
        thresholds = tuple(map(float, known["thresholds"]))
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{out / _CLASSES}: does not have classes and thresholds") from None
    if len(classes) != len(thresholds):
        raise UsageError(
            f"{out / _CLASSES}: must have a threshold for each of its {len(classes)} classes, "
            f"got {len(thresholds)}"
        )
    network = files.load_model(
        out, settings.network, lambda chosen, _: make_detector(chosen, len(classes))
    )
    return FinishedRun(settings, network, classes, thresholds)


@dataclass(frozen=True)
class DetectionRun(RunResult[Result, TrainedDetector]):
    """The result of a run, and the thresholds of the classes."""

    thresholds: list[float] = field(default_factory=list)


def open_data(
    settings: Settings,
    *,
    classes: Sequence[str] | None = None,
    run: Path | None = None,
    skip_broken: bool = False,
) -> DetectionSplits:
    """Open the images of the settings, split by their lists of files; ``run`` changes nothing."""
    require_data(settings.data, KINDS)
    return open_detection(**settings.data.model_dump(), classes=classes, skip_broken=skip_broken)


def fit_settings(settings: Settings, splits: DetectionSplits) -> tuple[Settings, list[str]]:
    """Return the settings as they are: batches of a few images take each of them several times."""
    return settings, []


def run(
    splits: DetectionSplits,
    settings: Settings,
    out: Path,
    **options: Unpack[ImageOptions],
) -> DetectionRun:
    """Train into the folder ``out``, then evaluate the detector of the best validation.

    A folder that holds a run already is only touched with ``resume``, which continues it.
    """
    options.setdefault("device", default_device())
    with image_run(out, "detect", settings, **options) as folder:
        cache: Cache = {}
        trained = train(splits, settings, folder, cache=cache, **options)
        if folder is None:
            return DetectionRun({}, trained)
        thresholds = best_thresholds(splits.validation, trained.detections)
        write_model(out, trained.network, splits.train.classes, thresholds)
        detections = detect_all(trained.network, splits.test, settings, cache=cache)
        result = evaluate(splits.test, detections)
        write_json(out / "results.json", {"test": result.as_json(), "thresholds": thresholds})
        said = verdict(
            "AP",
            validation=validation_of(trained, "ap"),
            advice=image_advice(settings, trained, "focal loss", warm_up=settings.training.warm_up),
        )
        report = write_report(
            out,
            settings,
            splits,
            trained,
            result=result,
            detections=detections,
            thresholds=thresholds,
            verdict=said,
        )
        folder.finish()
        results = {settings.objective.short: result}
        return DetectionRun(results, trained, report, said, thresholds)
