"""A whole run: train, evaluate on the test images, write; load what was written, and predict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import torch

from rankwise.data.detection import KINDS, DetectionSplits, open_detection
from rankwise.data.images.image_file import read_image
from rankwise.errors import UsageError
from rankwise.files import read_json
from rankwise.report import Section, write_json, write_whole
from rankwise.report.verdict import verdict
from rankwise.tasks.detection.dataset import Cache
from rankwise.tasks.detection.evaluate import (
    Result,
    best_thresholds,
    evaluate,
    match,
    sentence,
)
from rankwise.tasks.detection.inference import detect, detect_all
from rankwise.tasks.detection.network import Detector
from rankwise.tasks.detection.report import drawn, report_sections
from rankwise.tasks.detection.settings import Settings
from rankwise.tasks.detection.task import TrainedDetector, train
from rankwise.tasks.detection.two_stage import make_detector
from rankwise.vision import files
from rankwise.vision import run as image_runs
from rankwise.vision.files import CONFIG
from rankwise.vision.gallery import to_png

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
        known = read_json(out / _CLASSES)
        classes = tuple(map(str, known["classes"]))
        thresholds = tuple(map(float, known["thresholds"]))
    except Exception:  # whatever it holds instead
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


def open_data(
    settings: Settings,
    *,
    classes: Sequence[str] | None = None,
    run: Path | None = None,
    skip_broken: bool = False,
) -> DetectionSplits:
    """Open the images of the settings, split by their lists of files; ``run`` changes nothing."""
    image_runs.require_data(settings.data, KINDS)
    asked = settings.data.model_dump(exclude={"verify"})
    return open_detection(**asked, classes=classes, skip_broken=skip_broken)


def run(
    splits: DetectionSplits,
    settings: Settings,
    out: Path,
    **options: Unpack[image_runs.ImageOptions],
) -> image_runs.RunResult[Result, TrainedDetector]:
    """Train into the folder ``out``, then evaluate the detector of the best validation.

    A folder that holds a run already is only touched with ``resume``, which continues it.
    """
    options.setdefault("device", image_runs.default_device())
    with image_runs.image_run(out, "detect", settings, **options) as folder:
        cache: Cache = {}
        trained = train(splits, settings, folder, cache=cache, **options)
        if folder is None:
            return image_runs.RunResult({}, trained)
        thresholds = best_thresholds(splits.validation, trained.detections)
        write_model(out, trained.network, splits.train.classes, thresholds)
        detections = detect_all(trained.network, splits.test, settings, cache=cache)
        result = evaluate(splits.test, detections)
        results = {settings.objective.short: result}
        write_json(out / "results.json", {"test": result.as_json(), "thresholds": thresholds})
        said = verdict(
            "AP",
            validation=image_runs.validation_of(trained, "ap"),
            advice=image_runs.image_advice(settings, trained, "focal loss"),
            sentence=sentence(match(splits.test, detections), thresholds),
        )
        report = image_runs.write_report(
            out,
            "Object detection",
            report_sections(results, splits.test, detections, thresholds, trained.best_step),
            command="detect",
            training=Section("Training", figures=[image_runs.curve_figure(trained, "ap")]),
            data=splits.describe().splitlines(),
            settings=settings,
            verdict=said,
        )
        return image_runs.RunResult(results, trained, report, said)


def require_places(images: Sequence[Path], out: Path) -> None:
    """Raise where a drawing in ``out`` would write over an image, or over another drawing."""
    drawn_from: dict[str, Path] = {}
    for image in images:
        if image.resolve().parent == out.resolve():
            raise UsageError(
                f"--out must be another folder than that of {image}, where {image.stem}.png may be "
                f"an image, got {out}"
            )
        other = drawn_from.setdefault(image.stem, image)
        if other is not image:
            raise UsageError(
                f"{other} and {image} would both be drawn as {out / image.stem}.png; "
                "detect in one of them at a time, each with a folder --out of its own"
            )


def predict(
    finished: FinishedRun, image: Path, out: Path, min_score: float | None = None
) -> tuple[Path, Counter[str]]:
    """Draw boxes with at least ``min_score``, a probability; None: the thresholds of the run.

    Writes ``NAME.png`` and ``NAME.json`` into ``out``: boxes x1 y1 x2 y2 in pixels of the image.
    Returns the file of the drawing, and the number of boxes of each class.
    """
    require_places([image], out)
    pixels, settings = read_image(image), finished.settings
    (all_boxes,) = detect(finished.network, [pixels], settings.augmentations, settings.selection)
    logit = None
    if min_score is not None:
        logit = torch.tensor(min_score, dtype=torch.float64).logit().item()
    boxes = all_boxes.above(finished.thresholds if logit is None else logit)
    names = [finished.classes[label] for label in boxes.labels.tolist()]
    rows = [
        {"class": name, "score": round(score, 6), "box": [round(side, 2) for side in box]}
        for name, score, box in zip(
            names, boxes.scores.sigmoid().tolist(), boxes.boxes.tolist(), strict=True
        )
    ]
    drawing = write_whole(out / f"{image.stem}.png", to_png(drawn(pixels, boxes, finished.classes)))
    size = {"width": pixels.shape[2], "height": pixels.shape[1]}
    write_json(out / f"{image.stem}.json", {"image": image.name, **size, "detections": rows})
    return drawing, Counter(names)
