"""Settings of image classification, one section for each part of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Ge, Lt
from pydantic import Field, model_validator

from rankwise.errors import UsageError
from rankwise.settings import Count, Section, Share, TaskSettings
from rankwise.training.settings import EarlyStoppedTraining, Optimizer
from rankwise.vision import settings as vision
from rankwise.vision.settings import Augmentations


class Data(vision.ImageData):
    """Images, the long tail or two classes made of them, and their split."""

    imbalance: Annotated[float, Ge(1)] | None = Field(
        None, description="Size of the largest class over the smallest; null to keep all images."
    )
    tail_in: Literal["all", "train"] = Field("all", description="Parts with the imbalance.")
    positive: tuple[str, ...] = Field(
        (), description="Classes that are the positive class; empty for every class by itself."
    )
    positive_share: Share | None = Field(
        None, description="Share of positives to reduce the training images to."
    )
    test_share: Share | None = Field(
        None, description="Test share of every class; null for 0.1 or as given."
    )
    validation_share: Annotated[float, Ge(0), Lt(1)] = Field(
        0.1, description="Validation share of every class; 0 for no validation."
    )
    max_fpr: Share = Field(0.05, description="Largest false positive rate of the partial AUC.")

    @model_validator(mode="after")
    def _leaves_training_images(self) -> Self:
        test = self.test_share or 0.1
        if not self.validation_share < 1 - test:
            raise UsageError(
                "data.validation_share must be 0 or a share that leaves training images next to "
                f"data.test_share, {test}, got {self.validation_share!r}"
            )
        return self


class Network(vision.Backbone):
    """Backbone and linear layer with one logit per class (one for two classes)."""

    head: Literal["auto", "linear", "cosine"] = Field(
        "auto", description="Form of the logits: linear, cosine, or auto (cosine for ldam)."
    )


class Batches(Section, section="batches"):
    """Images of a step."""

    size: Annotated[int, Ge(2)] = Field(64, description="Batch size (images per step).")
    positives: Count | None = Field(
        None, description="Positives per batch of a binary problem; null for random batches."
    )
    per_class: Count | None = Field(
        None, description="Images per class of size/per_class classes; null for random batches."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name in ("positives", "per_class"):
            value = getattr(self, name)
            if value is not None and value >= self.size:
                raise UsageError(
                    f"batches.{name} must be less than batches.size, {self.size}, got {value}"
                )
        if self.per_class is not None and self.size % self.per_class:
            raise UsageError(
                f"batches.size must be a multiple of batches.per_class, {self.per_class}, "
                f"got {self.size}"
            )
        return self


class Objective(vision.Objective):
    """Objective that is minimized; a warm start is on cross-entropy."""

    name: str = Field(
        "stable_ap", description="Name of the objective with its options (see rankwise objectives)."
    )


class Settings(TaskSettings):
    """Settings of image classification."""

    configs: ClassVar[Path | None] = Path(__file__).parent / "configs"

    data: Data = Data()
    network: Network = Network()
    augmentations: Augmentations = Augmentations()
    batches: Batches = Batches()
    objective: Objective = Objective()
    optimizer: Optimizer = Optimizer()
    training: EarlyStoppedTraining = EarlyStoppedTraining()

    @model_validator(mode="after")
    def _size_images(self) -> Self:
        sized = self.augmentations.sized_for(self.network.backbone)
        object.__setattr__(self, "augmentations", sized)
        return self

    @property
    def cosine(self) -> bool:
        """Whether logits are cosines."""
        if self.network.head == "auto":
            return self.objective.short.lower() == "ldam"
        return self.network.head == "cosine"
