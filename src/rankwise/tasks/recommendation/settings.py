"""Settings of a recommender."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from rankwise.errors import UsageError
from rankwise.settings import Count, CountFromZero, NonNegative, Positive, Seed, TaskSettings

_NETWORKS = ("mf", "two_tower", "lightgcn")
_USED_BY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("objective", "scores", "temperature", "offsets", "hidden", "lists", "weighting", "batch",
         "negatives", "sampling", "correction", "epochs", "warm_start", "patience",
         "learning_rate", "schedule", "start", "weight_decay"),
        _NETWORKS,
    ),
    "layers": ("lightgcn",),
    "dimension": (*_NETWORKS, "ials"),
    "regularization": ("ease", "ials"),
    **dict.fromkeys(("unobserved_weight", "frequency_exponent", "iterations"), ("ials",)),
    **dict.fromkeys(("neighbors", "shrinkage"), ("itemknn",)),
}  # fmt: skip
"""The models for which a setting has an effect; the others are for all."""


class Settings(TaskSettings):
    """Settings of a recommender."""

    objective: str = Field(
        "softmax",
        description="Objective: softmax, ndcg, bpr, pap@8, ap, … (see rankwise objectives).",
    )
    model: Literal["mf", "two_tower", "lightgcn", "ease", "ials", "itemknn"] = Field(
        "mf",
        description="Model: mf (matrix factorization), two_tower, lightgcn, ease, ials or itemknn.",
    )
    scores: Literal["dot", "cosine"] = Field(
        "cosine", description="Score of user and item vectors: dot product or cosine."
    )
    temperature: Positive | None = Field(
        None, description="Temperature of the scores. Default: 1 for dot, tuned for cosine."
    )
    offsets: bool | None = Field(
        None,
        description="Add an offset of each item to the scores. Default: with dot, softmax, bpr.",
    )
    dimension: Count = Field(64, description="Embedding dimension.")
    hidden: tuple[Count, ...] = Field(
        (128,), description="Hidden layer sizes of a tower, separated by commas."
    )
    layers: Count = Field(3, description="Number of layers over the graph (lightgcn).")
    regularization: Positive | None = Field(
        None, description="L2 regularization (ease, ials). Default: chosen on validation."
    )
    unobserved_weight: Positive | None = Field(
        None, description="Weight of all pairs (ials). Default: chosen on validation."
    )
    frequency_exponent: NonNegative = Field(
        1.0, description="Exponent of the frequency in the regularization (ials); 0: not scaled."
    )
    iterations: Count | None = Field(
        None, description="Number of iterations (ials). Default: chosen on validation, up to 16."
    )
    neighbors: Count | None = Field(
        None, description="Number of neighbors per item (itemknn). Default: chosen on validation."
    )
    shrinkage: NonNegative | None = Field(
        None, description="Shrinkage of the similarities (itemknn). Default: chosen on validation."
    )
    threshold: float | None = Field(
        None, description="Smallest rating that is positive. Default: every interaction is."
    )
    split: Literal["random", "time"] = Field(
        "random", description="Split of each user's interactions: random or time."
    )
    validation: float = Field(
        0.1, description="Validation part of each user: a share, or a number of interactions."
    )
    validation_users: Count | None = Field(
        None,
        description="Number of users per validation, drawn at random. Default: all, or 10,000 if "
        "the data are large.",
    )
    test: float = Field(
        0.2, description="Test part of each user: a share, or a number of interactions."
    )
    lists: Literal["auto", "user", "interaction"] = Field(
        "auto",
        description="Positives per list: all of a user, one interaction, or auto (by objective).",
    )
    weighting: Literal["interactions", "users"] = Field(
        "interactions", description="Weights of the lists: mean over interactions or over users."
    )
    batch: Count = Field(8192, description="Batch size (positive interactions per step).")
    negatives: str = Field(
        "auto",
        description="Sampled negatives per step; 0 for the whole catalog; auto: 0 unless the data "
        "are large.",
    )
    sampling: Literal["uniform", "popularity"] = Field(
        "uniform", description="Sampling distribution of the negatives: uniform or popularity."
    )
    correction: bool = Field(
        True, description="Correct for the sampling distribution of the negatives (log q)."
    )
    epochs: Count = Field(40, description="Maximum number of epochs.")
    warm_start: CountFromZero = Field(
        20, description="Maximum number of softmax epochs before the objective; 0 for none."
    )
    refit: bool | None = Field(
        None,
        description="Train again on training and validation data. Default: only with --test-file.",
    )
    patience: Count = Field(30, description="Number of epochs without improvement before stopping.")
    metric: str = Field(
        "ndcg@10", description="Validation metric that chooses the epoch or hyperparameters."
    )
    learning_rate: Positive = Field(
        0.03, description="AdamW learning rate; a tenth of it after a warm start."
    )
    schedule: Literal["constant", "cosine"] = Field(
        "cosine",
        description="Learning rate: constant, or cosine, which falls to 0 at the last of --epochs.",
    )
    start: Literal["random", "spectral"] = Field(
        "spectral",
        description="Initial vectors: random, or spectral (an SVD of the interactions).",
    )
    weight_decay: NonNegative = Field(0.0, description="AdamW weight decay.")
    seed: Seed = Field(0, description="Random seed.")

    @property
    def has_offsets(self) -> bool:
        """Whether items have offsets: cosines alone cannot say that an item is popular."""
        if self.offsets is None:
            return self.scores == "dot" or self.objective in ("softmax", "bpr")
        return self.offsets

    @field_validator("negatives", mode="before")
    @classmethod
    def _number(cls, value: object) -> str:
        text = str(value)
        if isinstance(value, bool) or not (text == "auto" or text.isdecimal()):
            raise UsageError(f"negatives must be a whole number >= 0 or auto, got {value!r}")
        return text

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

    @model_validator(mode="after")
    def _used(self) -> Self:
        for name, models in _USED_BY.items():
            if (
                self.model not in models
                and getattr(self, name) != type(self).model_fields[name].default
            ):
                raise UsageError(
                    f"{name} has no effect with model {self.model}; leave it out, or use "
                    f"{' or '.join(models)}"
                )
        return self
