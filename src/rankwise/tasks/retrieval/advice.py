"""What the settings of a training on images leave to try when it did not help."""

from __future__ import annotations

import math
from typing import Any, Protocol

from rankwise.report.verdict import Validation, lower_rate

__all__ = ["image_advice", "validation_of"]

_BATCH_NORM = ("small", "resnet", "mobilenet_v2")


class _Trained(Protocol):
    @property
    def history(self) -> list[dict[str, float]]: ...
    @property
    def best_step(self) -> int: ...
    @property
    def start(self) -> float: ...


def validation_of(trained: _Trained, metric: str) -> Validation | None:
    """Return the values of a metric over a training; None where there was no validation."""
    values = [row[metric] for row in trained.history if metric in row]
    return Validation(trained.start, values, trained.best_step) if values else None


def image_advice(settings: Any, trained: _Trained, warm: str) -> list[str]:
    """Return changes of settings, the most likely one first.

    ``settings`` are those of any task on images, and ``warm`` is the loss that a warm start begins
    with.
    """
    network, training, kept = settings.network, settings.training, trained.best_step
    rate, steps = settings.optimizer.learning_rate, training.steps
    found = [lower_rate("optimizer.learning_rate", rate)]
    some = max(1, steps // 10)
    if getattr(training, "warm_up", None) == 0:
        found.append(f"a warm-up of the rate, training.warm_up={some}")
    if settings.objective.warm_start == 0:
        found.append(f"a warm start by {warm}, objective.warm_start={some}")
    pretrained = network.weights is not None
    if pretrained and network.backbone in _BATCH_NORM and not network.freeze_batch_norm:
        found.append("batch norms as they were trained, network.freeze_batch_norm=true")
    if not pretrained:
        found.append("a pretrained backbone, network.backbone and network.weights")
    if 0 < kept < steps:
        found.append(f"fewer steps, training.steps={kept}: validation was best there")
    elif math.isnan(trained.start):  # there was no validation to say when it was best
        found.append(f"fewer steps, training.steps={max(1, steps // 2)}")
    elif kept == 0 and getattr(training, "patience", 0) is None:
        found.append("an end as soon as validation falls, training.patience=3")
    return found
