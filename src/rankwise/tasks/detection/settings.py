"""Settings of object detection, one section for each part of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Ge, Le
from pydantic import Field, field_validator, model_validator

from rankwise.errors import UsageError
from rankwise.settings import (
    Count,
    CountFromZero,
    NonNegative,
    Positive,
    Section,
    Share,
    TaskSettings,
)
from rankwise.training import settings as training
from rankwise.training.settings import Optimizer
from rankwise.vision import settings as vision

_Side = Annotated[int, Ge(32)]
_FINEST, _COARSEST = 4, 128


class Data(vision.ImageData):
    """Images with boxes, and the lists of images of each part."""

    kind: str = Field("voc", description="Layout of the data: voc or coco.")
    train: tuple[str, ...] = Field(("train",), description="Lists of the training images.")
    validation: tuple[str, ...] = Field(
        (), description="Lists of the validation images; empty for a share of the training images."
    )
    test: tuple[str, ...] = Field(("test",), description="Lists of the test images.")
    validation_share: Share = Field(
        0.1, description="Validation share of the training images where no list is given."
    )

    @field_validator("train", "test")
    @classmethod
    def _named(cls, lists: tuple[str, ...]) -> tuple[str, ...]:
        if not lists:
            raise UsageError("data.train and data.test must each name at least one list, got []")
        return lists


class Network(vision.Backbone):
    """Backbone, feature pyramid and the head on every level."""

    backbone: Literal["small", "mobilenet_v2", "resnet", "convnext"] = Field(
        "small", description="Architecture of the backbone."
    )
    freeze_batch_norm: bool = Field(
        True, description="Whether batch normalization keeps its statistics."
    )
    frozen: CountFromZero = Field(
        0, description="Number of first stages that are not trained; the first is the stem."
    )
    levels: tuple[int, ...] = Field((8, 16, 32, 64), description="Strides of the pyramid's levels.")
    width: Annotated[int, Ge(8)] = Field(256, description="Channels of the pyramid and the head.")
    depth: CountFromZero = Field(4, description="Convolutions before each output of the head.")
    anchor_scale: Positive = Field(8.0, description="Side of an anchor in strides.")
    stages: Literal[1, 2] = Field(
        1, description="Stages: 1 (RetinaNet) or 2 (Faster R-CNN: proposals, then their classes)."
    )
    proposals: Count = Field(300, description="Maximum number of proposals per image (2 stages).")
    region_width: Count = Field(1024, description="Width of the head of regions (2 stages).")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.width % 8:
            raise UsageError(f"network.width must be a multiple of 8, got {self.width}")
        doubled = all(b == 2 * a for a, b in zip(self.levels, self.levels[1:], strict=False))
        known = self.levels and self.levels[0] in (4, 8, 16, 32)
        if not (doubled and known and self.levels[-1] <= _COARSEST):
            raise UsageError(
                f"network.levels must double from {_FINEST}, 8, 16 or 32 to at most {_COARSEST}, "
                f"got {list(self.levels)}"
            )
        return self


class Augmentations(Section, section="augmentations"):
    """Sizes and random changes of the images and their boxes."""

    height: _Side = Field(512, description="Height of a training image in pixels.")
    width: _Side = Field(512, description="Width of a training image in pixels.")
    test_side: _Side | None = Field(
        None,
        description="Shorter side in evaluation, with the image's shape; null as in training.",
    )
    cache: bool = Field(False, description="Whether resized images are kept in memory.")
    flip: bool = Field(True, description="Whether images are mirrored at random.")
    crop: bool = Field(
        True, description="Whether images are cropped at random around the center of an object."
    )
    expand: Annotated[float, Ge(1)] = Field(
        4.0, description="Largest side of the canvas around an image, in its sides; 1 for none."
    )
    colors: bool = Field(
        True, description="Whether brightness, contrast, saturation and hue change at random."
    )


class Objective(vision.Objective):
    """Classification, box and score terms of the loss; a warm start is on focal loss."""

    name: str = Field("stable_ap", description="Name of the classification loss with its options.")
    pooled: bool = Field(
        True, description="Whether anchors of all classes are one list; else one list per class."
    )
    box_weight: NonNegative = Field(2.0, description="Weight of the GIoU loss of the boxes.")
    bias_weight: NonNegative = Field(0.001, description="Weight of the term that bounds scores.")
    bias_form: Literal["sum", "mean"] = Field(
        "sum", description="Form of that term: sum (as in the paper) or mean over the positives."
    )
    classification_weight: NonNegative = Field(
        1.0, description="Weight of the classification loss."
    )
    printed: bool = Field(
        False, description="Whether the loss has the printed form of StableAP, with sums."
    )
    regions: str | None = Field(
        None,
        description="Name of the loss of the regions with 2 stages; null for cross-entropy.",
    )


class Selection(Section, section="selection"):
    """Boxes that are returned for an image."""

    candidates: Count = Field(1000, description="Number of top scored boxes before suppression.")
    max_iou: Annotated[float, Ge(0), Le(1)] = Field(
        0.6, description="Largest IoU of a box with a better one of its class."
    )
    maximum: Count = Field(100, description="Maximum number of boxes.")
    per_class: bool = Field(
        False, description="Whether both numbers are per class; true where pooled is false."
    )


class Training(training.Training):
    """Number of steps, batch size, validation, precision and seed."""

    steps: Count = Field(90_000, description="Number of training steps.")
    batch: Count = Field(32, description="Batch size (images per step).")
    validate_every: Count = Field(
        1000, description="Steps between validations; a run can be resumed from the last one."
    )
    warm_up: CountFromZero = Field(
        0, description="Number of first steps in which the learning rate rises linearly."
    )
    clip: Positive | None = Field(
        None, description="Maximum norm of the gradient; null for no clipping."
    )


class Settings(TaskSettings):
    """Settings of object detection."""

    configs: ClassVar[Path | None] = Path(__file__).parent / "configs"

    data: Data = Data()
    network: Network = Network()
    augmentations: Augmentations = Augmentations()
    objective: Objective = Objective()
    selection: Selection = Selection()
    optimizer: Optimizer = Optimizer(s=0.0, weight_decay=1e-4)
    training: Training = Training()

    @model_validator(mode="after")
    def _rank_per_class(self) -> Self:
        if not self.objective.pooled:
            # With a list for each class a constant on the scores of one class changes nothing in
            # training: scores of two classes are not to be compared.
            object.__setattr__(self, "selection", self.selection.replace(per_class=True))
        return self

    @model_validator(mode="after")
    def _regions_of_two_stages(self) -> Self:
        if self.network.stages == 1 and self.objective.regions is not None:
            raise UsageError(
                f"objective.regions is for network.stages: 2, got {self.objective.regions} with "
                "network.stages: 1; leave it out"
            )
        return self
