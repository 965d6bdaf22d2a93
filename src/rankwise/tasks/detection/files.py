"""Files of a finished run, and the detector that is loaded from there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from rankwise.errors import UsageError
from rankwise.report import write_json
from rankwise.tasks.detection.network import Detector, make_detector
from rankwise.tasks.detection.settings import Settings
from rankwise.vision import files
from rankwise.vision.files import CONFIG

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


def load_run(out: Path) -> FinishedRun:
    """Load the detector of a finished run, in evaluation mode."""
    files.require_finished(out, _CLASSES)
    settings = Settings.read(out / CONFIG)
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
