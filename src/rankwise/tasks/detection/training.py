"""Training a detector: to its best validation, and what it detects there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from rankwise.data.detection import DetectionSplits
from rankwise.data.images import BrokenImage
from rankwise.tasks.detection.evaluation import detect_all
from rankwise.tasks.detection.finding import Detections
from rankwise.tasks.detection.network import Detector
from rankwise.tasks.detection.settings import Settings
from rankwise.tasks.detection.task import DetectionTask
from rankwise.training import Callback, RunFolder, Step, fit

__all__ = ["Step", "Trained", "train"]


@dataclass(frozen=True)
class Trained:
    """The network of the best validation, one row for each of them, and where the best was."""

    network: Detector
    history: list[dict[str, float]]
    best_step: int  # 0: the detector before training
    best_value: float
    found: list[Detections]  # in the validation pictures
    start: float = math.nan  # AP of validation before training


def train(
    splits: DetectionSplits,
    settings: Settings,
    out: Path | RunFolder | None = None,
    *,
    resume: bool = False,
    device: torch.device | None = None,
    workers: int = 0,
    told: Callable[[BrokenImage], None] | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
    kept: dict[Any, Any] | None = None,
) -> Trained:
    """Train from the start, or with ``resume`` from the last checkpoint in ``out``, if any.

    A resumed run ends with the same bits as one that was never stopped. With ``out`` every
    validation leaves a checkpoint and ``metrics.csv`` there. The caller's random numbers are not
    touched. Runs on the same pictures that are given one dictionary
    ``kept`` share what a frozen backbone sees in them.
    """
    kept = {} if kept is None else kept
    task, fitted = fit(
        lambda place: DetectionTask(
            splits, settings, place=place, workers=workers, told=told, kept=kept
        ),
        out,
        "detect",
        resume=resume,
        precision=settings.training.precision,
        device=device,
        callbacks=[Callback(on_step=on_step)],
    )
    found = task.found
    if fitted.best_row < len(fitted.history) or not found:
        found = detect_all(task.network, splits.validation, settings, kept=kept)
    value = max(-1.0, fitted.best_value)  # where the validation images have no object
    return Trained(task.network, fitted.history, fitted.best_step, value, found, fitted.start)
