"""Sections of settings that the image tasks share."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from rankwise.errors import UsageError
from rankwise.settings import CountFromZero, NonNegative, Section, Seed

_RESIZE = {"small": 64}  # the other backbones were trained on crops of 224


class ImageData(Section, section="data"):
    """Images and their split."""

    kind: str = Field("folder", description="Layout of the data.")
    root: str = Field("", description="Folder or file of the data.")
    seed: Seed = Field(0, description="Random seed of the split.")
    verify: Literal["sample", "full"] = Field(
        "sample",
        description="Images whose content must be the same to resume: sample (256) or full (all).",
    )
    allow_outside: bool = Field(
        False, description="Whether the data may name files outside of root, links included."
    )


class Backbone(Section, section="network"):
    """Backbone of the network."""

    backbone: Literal["small", "resnet", "convnext", "vit", "dinov2", "mobilenet_v2"] = Field(
        "small", description="Architecture of the backbone."
    )
    weights: str | None = Field(
        None,
        description="Folder, name in the hub's cache, or weights file; null to train from scratch.",
    )
    options: dict[str, object] = Field(
        {}, description="Options of the configuration of the backbone."
    )
    freeze_batch_norm: bool = Field(
        False, description="Whether batch normalization keeps its statistics."
    )


class Augmentations(Section, section="augmentations"):
    """Sizes and random changes of the images."""

    resize: CountFromZero = Field(
        0, description="Side in pixels before the crop; 0 for 64 (small) or 256 (the others)."
    )
    square: bool = Field(
        True, description="Whether both sides become resize; else the shorter one does."
    )
    crop: CountFromZero = Field(
        0, description="Side of the crop in pixels; 0 for seven eighths of resize."
    )
    resized_crop: bool = Field(
        False, description="Whether the crop has a random size and shape before it is resized."
    )
    scale: tuple[float, float] = Field(
        (0.2, 1.0), description="Smallest and largest area of a resized crop, as shares."
    )
    flip: bool = Field(True, description="Whether images are mirrored at random.")
    rotation: NonNegative = Field(0.0, description="Maximum random rotation in degrees.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.resize and self.crop > self.resize:
            raise UsageError(
                f"augmentations.crop must be at most augmentations.resize, {self.resize}, "
                f"got {self.crop}"
            )
        if not 0 < self.scale[0] <= self.scale[1] <= 1:
            raise UsageError(
                "augmentations.scale must be two shares, 0 < low <= high <= 1, "
                f"got {list(self.scale)}"
            )
        if not self.square and (self.resized_crop or self.rotation):
            raise UsageError(
                "augmentations.resized_crop and augmentations.rotation need "
                "augmentations.square: true, as images of several shapes are cropped one by one"
            )
        return self

    def sized_for(self, backbone: str) -> Augmentations:
        """Return the same with the sizes that were left to the backbone."""
        resize = self.resize or max(_RESIZE.get(backbone, 256), self.crop)
        return self.replace(resize=resize, crop=self.crop or max(1, resize * 7 // 8))


class Objective(Section, section="objective"):
    """Objective that is minimized, by its name."""

    name: str = Field(description="Name of the objective with its options.")
    warm_start: CountFromZero = Field(
        0, description="Number of first steps on the loss of the warm start."
    )
    previous: bool = Field(
        False,
        description="Whether the previous step's network scores the batch too (StableAP, Eq. 6).",
    )

    @property
    def short(self) -> str:
        """The name without its options, for a table."""
        return self.name.partition("(")[0]
