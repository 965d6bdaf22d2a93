"""Images with one class or several labels each, and the three parts a classifier is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from rankwise.data.images.base import ImageSet
from rankwise.data.images.image_file import BrokenImage
from rankwise.data.images.listing import Recorded

__all__ = ["ClassSplits", "LabeledImages"]

_NAMED = 6  # classes whose sizes a description gives


@dataclass(frozen=True, eq=False)
class LabeledImages:
    """Images and what they show: ``target`` is a class id each, or 0 and 1 for every class.

    The ``labels`` of ``images`` are the classes themselves, or with several labels by image a
    number for every combination of them that occurs: images of one number can stand for each other.
    """

    images: ImageSet
    target: Tensor  # long, (n,), or (n, classes) of 0 and 1
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        several = self.target.ndim == 2
        shape = (len(self.images), len(self.classes)) if several else (len(self.images),)
        if self.target.dtype != torch.long or tuple(self.target.shape) != shape:
            raise ValueError(
                f"target must be long, of shape ({len(self.images)},) or "
                f"({len(self.images)}, {len(self.classes)}), got {self.target.dtype} of shape "
                f"{tuple(self.target.shape)}"
            )
        highest = 1 if several else len(self.classes) - 1
        low, high = (int(v) for v in self.target.aminmax()) if len(self.images) else (0, 0)
        if low < 0 or high > highest:
            raise ValueError(f"target must be from 0 to {highest}, got {low} to {high}")

    def __len__(self) -> int:
        return len(self.images)

    @property
    def name(self) -> str:
        """The name of the images."""
        return self.images.name

    @property
    def multi_label(self) -> bool:
        """Whether an image can be of several classes, or of none."""
        return self.target.ndim == 2

    @property
    def binary(self) -> bool:
        """Whether there are two classes, the second of which is the positive one."""
        return not self.multi_label and len(self.classes) == 2

    @property
    def hot(self) -> Tensor:
        """0 and 1 for every image and class, (n, classes), whatever the target is."""
        if self.multi_label:
            return self.target
        return torch.nn.functional.one_hot(self.target, len(self.classes))

    @property
    def counts(self) -> Tensor:
        """How many images every class has."""
        return self.hot.sum(0)

    def subset(self, rows: Sequence[int] | Tensor, name: str | None = None) -> LabeledImages:
        """The images ``rows``, in that order, of the same classes."""
        chosen = torch.as_tensor(rows, dtype=torch.long)
        images = self.images.subset(chosen)
        images = images if name is None else replace(images, name=name)
        return LabeledImages(images, self.target[chosen], self.classes)

    def describe(self) -> str:
        """One line: how many images, and how many of every class."""
        pairs = list(zip(self.classes, self.counts.tolist(), strict=True))
        shown = ", ".join(f"{name} {count}" for name, count in pairs[:_NAMED])
        more = f", … {pairs[-1][0]} {pairs[-1][1]}" if len(pairs) > _NAMED else ""
        kind = "labels" if self.multi_label else "classes"
        return f"{self.name}: {len(self)} images of {len(pairs)} {kind}: {shown}{more}"


@dataclass(frozen=True, eq=False)
class ClassSplits:
    """The parts of a data set; a class has the same number in each."""

    train: LabeledImages
    validation: LabeledImages
    test: LabeledImages
    dropped: tuple[BrokenImage, ...] = ()  # files that were left out by ``skip_broken``
    remarks: tuple[str, ...] = ()  # how the images were divided, and what was passed over
    record: tuple[Recorded, ...] = ()  # the part of every image, where a run has to keep it

    def describe(self) -> str:
        """One line for every remark, then one for every part."""
        lines = list(self.remarks)
        lines += [part.describe() for part in (self.train, self.validation, self.test)]
        if self.dropped:
            lines.append(f"left out: {len(self.dropped)} files that cannot be read")
        return "\n".join(lines)
