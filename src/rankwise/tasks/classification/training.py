"""Training a classifier: to the network of the best validation, and that of the last step."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from rankwise.data.images import BrokenImage
from rankwise.data.images.image_set import ClassSplits
from rankwise.tasks.classification.network import Classifier
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.task import ClassificationTask
from rankwise.training import Callback, RunFolder, Step, fit

__all__ = ["Step", "Trained", "train"]


@dataclass(frozen=True)
class Trained:
    """The network of the best validation and of the last step, and a row for every validation.

    ``start`` is the mAP of validation before the first step, NaN where there is none.
    """

    network: Classifier
    last: dict[str, torch.Tensor]
    history: list[dict[str, float]]
    best_step: int
    start: float = math.nan


def train(
    splits: ClassSplits,
    settings: Settings,
    out: Path | RunFolder | None = None,
    *,
    resume: bool = False,
    device: torch.device | None = None,
    workers: int = 0,
    told: Callable[[BrokenImage], None] | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Trained:
    """Train from the start, or with ``resume`` from the last checkpoint in ``out``, if any.

    A resumed run ends with the same bits as one that was never stopped. With ``out`` every
    validation leaves a checkpoint and ``metrics.csv`` there. The caller's random numbers are not
    touched.
    """
    task, fitted = fit(
        lambda place: ClassificationTask(splits, settings, place=place, workers=workers, told=told),
        out,
        "classify",
        resume=resume,
        precision=settings.training.precision,
        device=device,
        callbacks=[Callback(on_step=on_step)],
    )
    return Trained(task.network, fitted.last, fitted.history, fitted.best_step, fitted.start)
