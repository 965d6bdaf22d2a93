"""Settings of a recommender."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from rankwise.errors import UsageError
from rankwise.settings import Count, CountFromZero, NonNegative, Positive, Seed, TaskSettings


class Settings(TaskSettings):
    """Settings of a recommender."""

    objective: str = Field(
        "softmax",
        description="Objective: softmax, bpr, pap@8, ndcg@10, ap, … (see rankwise objectives).",
    )
    model: Literal["mf", "two_tower"] = Field(
        "mf", description="Model: mf (matrix factorization) or two_tower."
    )
    dimension: Count = Field(64, description="Embedding dimension.")
    hidden: tuple[Count, ...] = Field(
        (128,), description="Hidden layer sizes of a tower, separated by commas."
    )
    threshold: float | None = Field(
        None, description="Smallest rating of a positive. Default: every interaction is one."
    )
    split: Literal["random", "time"] = Field(
        "random", description="Split of each user's interactions: random or time."
    )
    validation: float = Field(
        0.1, description="Validation part of each user: a share, or a number of interactions."
    )
    test: float = Field(
        0.2, description="Test part of each user: a share, or a number of interactions."
    )
    lists: Literal["auto", "user", "interaction"] = Field(
        "auto",
        description="Positives per list: all of a user, one interaction, or auto (by objective).",
    )
    batch: Count = Field(1024, description="Batch size (positive interactions per step).")
    negatives: CountFromZero = Field(
        256, description="Number of negatives sampled per step; 0 for the whole catalog."
    )
    sampling: Literal["uniform", "popularity"] = Field(
        "uniform", description="Sampling distribution of the negatives: uniform or popularity."
    )
    correction: bool = Field(
        True, description="Correct for the sampling distribution of the negatives (log q)."
    )
    epochs: Count = Field(100, description="Maximum number of epochs.")
    warm_start: CountFromZero = Field(
        20, description="Maximum number of softmax epochs before the objective; 0 for none."
    )
    patience: Count = Field(5, description="Number of epochs without improvement before stopping.")
    metric: str = Field("ndcg@10", description="Validation metric that chooses the epoch.")
    learning_rate: Positive = Field(
        3e-3, description="AdamW learning rate; a tenth of it after a warm start."
    )
    weight_decay: NonNegative = Field(0.5, description="AdamW weight decay.")
    seed: Seed = Field(0, description="Random seed.")

    @field_validator("metric")
    @classmethod
    def _canonical(cls, name: str) -> str:
        from rankwise.tasks.recommendation.evaluation import measure_of  # noqa: PLC0415  (torch)

        return str(measure_of(name))

    @field_validator("validation")
    @classmethod
    def _given(cls, value: float) -> float:
        if value <= 0:
            raise UsageError(f"validation must be above 0, to choose the epoch by, got {value!r}")
        return value
