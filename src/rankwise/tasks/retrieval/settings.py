"""Settings of image retrieval, one section for each part of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Ge, Le
from pydantic import Field, model_validator

from rankwise.errors import UsageError
from rankwise.settings import Count, CountFromZero, Section, Share, TaskSettings
from rankwise.training.settings import EarlyStoppedTraining, Optimizer
from rankwise.vision import settings as vision
from rankwise.vision.settings import Augmentations


class Data(vision.ImageData):
    """Images and their split into training, validation and test."""

    trainval: bool = Field(False, description="Whether to train on the validation classes too.")
    test_share: Share | None = Field(
        None, description="Test share of classes or images (folder, csv); null for 0.2 or as given."
    )
    validation_share: Share = Field(
        0.1, description="Validation share of the classes or images that are not test."
    )
    split: Literal["classes", "images"] | None = Field(
        None, description="Unit of the split (folder, csv); null for classes where they suffice."
    )
    hits: tuple[Count, ...] = Field((1, 10, 100), description="Values k of the reported Recall@k.")


class Network(vision.Backbone):
    """Backbone and linear projection."""

    dimension: Count = Field(512, description="Dimension of the embedding.")


class Batches(Section, section="batches"):
    """Images of a step, sampled by class."""

    classes: Annotated[int, Ge(2)] = Field(28, description="Number of classes per batch.")
    per_class: Annotated[int, Ge(2)] = Field(4, description="Number of images per class.")
    chunk: Count | None = Field(
        None, description="Images per forward pass with gradient caching; null for the batch."
    )


class Objective(vision.Objective):
    """Objective that is minimized; a warm start is on SupCon."""

    name: str = Field(
        "soprc(score_scale=1, tau_fpr=.1, tau_tpr=.001)",
        description="Name of the objective with its options (see rankwise objectives).",
    )


class Memory(Section, section="memory"):
    """Cross-batch memory: embeddings of the last batches are ranked as well."""

    size: CountFromZero = Field(0, description="Number of embeddings kept; 0 for no memory.")
    start: CountFromZero = Field(1000, description="Number of first steps without the memory.")


class Mixup(Section, section="mixup"):
    """Deep feature mixup (StableAP, Section 7.1)."""

    stages: CountFromZero = Field(
        0, description="Number of last stages before which features are mixed; 0 for none."
    )
    u: Annotated[float, Ge(0), Le(1)] = Field(
        0.9, description="Weight of an image's own feature in a mixed one."
    )


class Settings(TaskSettings):
    """Settings of image retrieval."""

    configs: ClassVar[Path | None] = Path(__file__).parent / "configs"

    data: Data = Data()
    network: Network = Network()
    augmentations: Augmentations = Augmentations()
    batches: Batches = Batches()
    objective: Objective = Objective()
    memory: Memory = Memory()
    mixup: Mixup = Mixup()
    optimizer: Optimizer = Optimizer()
    training: EarlyStoppedTraining = EarlyStoppedTraining()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        sized = self.augmentations.sized_for(self.network.backbone)
        object.__setattr__(self, "augmentations", sized)
        chunk, per_class = self.batches.chunk, self.batches.per_class
        if chunk is not None and chunk % per_class:
            raise UsageError(
                f"batches.chunk must be a multiple of the {per_class} images of a class, "
                f"got {chunk}"
            )
        if self.memory.size and self.objective.previous:
            raise UsageError(
                "objective.previous and memory.size exclude each other: "
                "remembered embeddings have no previous parameters"
            )
        return self
