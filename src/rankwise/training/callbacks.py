"""What a training reports after its steps and validations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Row = dict[str, float]


@dataclass(frozen=True)
class Step:
    """State of a training after a step.

    Args:
        step: Number of the step in the run, from 1.
        epoch: Number of the epoch, or of the next validation, from 1.
        step_of_epoch: Number of the step in the epoch, from 1.
        steps_of_epoch: Steps in the epoch.
        loss: Loss of the step.
        value: Value of the last validation; NaN before the first.

    Example:
        >>> from rankwise.training import Step
        >>> Step(12, epoch=2, step_of_epoch=2, steps_of_epoch=10, loss=0.3, value=0.8).epoch
        2
    """

    step: int
    epoch: int
    step_of_epoch: int
    steps_of_epoch: int
    loss: float
    value: float


@dataclass(frozen=True)
class Validation:
    """Outcome of a validation.

    Args:
        row: Its row of ``metrics.csv``.
        best: Whether the network is the best so far.

    Example:
        >>> from rankwise.training import Validation
        >>> Validation({"step": 10, "map": 0.4}, best=True).row["map"]
        0.4
    """

    row: Row
    best: bool


@dataclass(frozen=True)
class Callback:
    """Functions that are called during a training; the checkpoint is written before them.

    Args:
        on_step: Called after every step.
        on_validation: Called after every validation.

    Example:
        >>> import math
        >>> from rankwise.training import Callback, Step
        >>> losses = []
        >>> record = Callback(on_step=lambda step: losses.append(step.loss))
        >>> record.on_step(Step(1, 1, 1, 10, loss=0.5, value=math.nan))
        >>> losses
        [0.5]
    """

    on_step: Callable[[Step], None] = lambda step: None
    on_validation: Callable[[Validation], None] = lambda validation: None
