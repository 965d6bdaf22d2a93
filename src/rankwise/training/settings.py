"""Sections of settings about training: optimizer, number of steps, early stopping."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Le, Lt
from pydantic import Field, field_validator

from rankwise.errors import UsageError
from rankwise.settings import Count, NonNegative, Positive, Section, Seed

Precision = Literal["float32", "bfloat16", "float16", "32", "bf16", "16"]


class Optimizer(Section, section="optimizer"):
    """Optimizer and learning rate schedule."""

    name: Literal["sgd", "adam", "adamw"] = Field("sgd", description="sgd, adam or adamw.")
    learning_rate: Positive = Field(0.01, description="Initial learning rate.")
    weight_decay: NonNegative = Field(4e-4, description="Weight decay.")
    momentum: Annotated[float, Ge(0), Lt(1)] = Field(0.9, description="Momentum of sgd.")
    s: Annotated[float, Ge(0), Le(1)] = Field(
        1.0, description="Form of sgd's momentum: 0 for heavy ball, 1 for Nesterov, or between."
    )
    milestones: tuple[Count, ...] = Field(
        (), description="Steps after which the learning rate is multiplied by factor."
    )
    factor: Positive = Field(0.1, description="Factor of the learning rate at a milestone.")

    @field_validator("milestones")
    @classmethod
    def _increasing(cls, steps: tuple[int, ...]) -> tuple[int, ...]:
        if list(steps) != sorted(set(steps)):
            raise UsageError(
                f"optimizer.milestones must increase, got {', '.join(map(str, steps))}"
            )
        return steps


class Training(Section, section="training"):
    """Number of steps, validation, precision and seed."""

    steps: Count = Field(1000, description="Number of training steps.")
    validate_every: Count = Field(
        100, description="Steps between validations; a run can be resumed from the last one."
    )
    precision: Precision = Field(
        "float32", description="Precision of the forward pass: float32, bfloat16 or float16."
    )
    seed: Seed = Field(0, description="Random seed of the training.")


class EarlyStoppedTraining(Training):
    """Number of steps, validation, early stopping, precision and seed."""

    patience: Count | None = Field(
        None, description="Validations without improvement before stopping; null for no limit."
    )
