"""Sets of images with boxes, and their training, validation and test parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from rankwise.data.images.image_file import BrokenImage, describe_broken, read_image

_NAMED = 10  # boxes that one line names


@dataclass
class AnnotationIssues:
    """Boxes that were cut or dropped, in words, and images that were left out."""

    clipped: list[str] = field(default_factory=list)  # went over the edge of their image
    dropped: list[str] = field(default_factory=list)  # had no area, or none inside the image
    broken: list[BrokenImage] = field(default_factory=list)  # left out by ``skip_broken``

    def lines(self) -> list[str]:
        """One line for each kind that there is, with its count and the first ten."""
        found = []
        if self.dropped:
            found.append(_line(self.dropped, "without area in {} image: dropped"))
        if self.clipped:
            found.append(_line(self.clipped, "over the edge of {} image: cut"))
        if self.broken:
            found.append(f"left out: {describe_broken(self.broken)}")
        return found


def _line(names: Sequence[str], what: str) -> str:
    boxes, whose = ("box", "its") if len(names) == 1 else ("boxes", "their")
    rest = f"; and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{len(names)} {boxes} {what.format(whose)} ({'; '.join(names[:_NAMED])}{rest})"


@dataclass(frozen=True, eq=False)
class Objects:
    """What is in one image: boxes x1 y1 x2 y2 in pixels of the file, with a class each.

    ``ignored`` are COCO's crowds and VOC's difficult objects: they are not trained on, and a box
    found there is neither right nor wrong. ``areas`` are COCO's (of the outline) or the boxes'.
    """

    boxes: Tensor  # float32, (n, 4)
    labels: Tensor  # long, (n,): class ids from 0
    ignored: Tensor  # bool, (n,)
    areas: Tensor  # float32, (n,)

    def __post_init__(self) -> None:
        n = len(self.labels)
        if tuple(self.boxes.shape) != (n, 4) or len(self.ignored) != n or len(self.areas) != n:
            raise ValueError(
                f"boxes must be of shape ({n}, 4) with a label, an area and whether it is ignored "
                f"each, got {tuple(self.boxes.shape)}, {len(self.areas)} and {len(self.ignored)}"
            )

    @classmethod
    def plain(cls, boxes: Tensor, labels: Tensor) -> Objects:
        """Objects of which none is ignored, with the areas of their boxes."""
        boxes = boxes.reshape(-1, 4).float()
        sides = boxes[:, 2:] - boxes[:, :2]
        return cls(boxes, labels.long(), torch.zeros(len(labels), dtype=torch.bool), sides.prod(1))

    def __len__(self) -> int:
        return len(self.labels)

    def trained(self) -> tuple[Tensor, Tensor]:
        """Boxes and labels of those that are not ignored."""
        return self.boxes[~self.ignored], self.labels[~self.ignored]


@dataclass(frozen=True, eq=False)
class DetectionSet:
    """Images with their objects: files that are read when asked for, or pixels in memory.

    A image without objects stays: all that a detector finds in it is wrong.
    """

    name: str
    classes: tuple[str, ...]  # the name of every class id
    objects: tuple[Objects, ...]
    sizes: tuple[tuple[int, int], ...]  # width and height of every image
    paths: tuple[Path, ...] | None = None
    pixels: tuple[Tensor, ...] | None = None  # uint8, (3, h, w) each

    def __post_init__(self) -> None:
        if (self.paths is None) == (self.pixels is None):
            raise ValueError("a DetectionSet has either paths or pixels, exactly one of them")
        held = len(self.paths or self.pixels or ())
        if not held == len(self.objects) == len(self.sizes):
            raise ValueError(
                f"there must be objects and a size for each of {held} images, got "
                f"{len(self.objects)} and {len(self.sizes)}"
            )
        for one in self.objects:
            if len(one) and not 0 <= int(one.labels.min()) <= int(one.labels.max()) < len(
                self.classes
            ):
                raise ValueError(
                    f"labels must be class ids 0 to {len(self.classes) - 1}, got "
                    f"{int(one.labels.min())} to {int(one.labels.max())}"
                )

    def __len__(self) -> int:
        return len(self.objects)

    def called(self, i: int) -> str:
        """What image ``i`` is called in words."""
        return self.paths[i].name if self.paths is not None else f"image {i}"

    def load(self, i: int) -> Tensor:
        """Return image ``i`` in RGB, uint8 (3, h, w), or raise :class:`BrokenImage`."""
        if self.pixels is not None:
            return self.pixels[i]
        assert self.paths is not None  # __post_init__ saw to it
        image = read_image(self.paths[i])
        found, said = (image.shape[2], image.shape[1]), self.sizes[i]
        if found != said:
            raise BrokenImage(
                self.paths[i],
                f"is {found[0]}×{found[1]} pixels, its annotation says {said[0]}×{said[1]}",
            )
        return image

    def subset(self, indices: Sequence[int], name: str | None = None) -> DetectionSet:
        """The images ``indices``, in that order."""
        return DetectionSet(
            self.name if name is None else name,
            self.classes,
            tuple(self.objects[i] for i in indices),
            tuple(self.sizes[i] for i in indices),
            None if self.paths is None else tuple(self.paths[i] for i in indices),
            None if self.pixels is None else tuple(self.pixels[i] for i in indices),
        )

    @property
    def counts(self) -> Tensor:
        """How many objects every class has: long, (classes,)."""
        labels = [one.labels for one in self.objects] or [torch.zeros(0, dtype=torch.long)]
        return torch.bincount(torch.cat(labels), minlength=len(self.classes))

    def describe(self) -> str:
        """One line: images, objects of each class, and how many images have none."""
        counts = self.counts
        most = counts.argsort(descending=True, stable=True)[:5].tolist()
        named = ", ".join(f"{self.classes[c]} {int(counts[c]):,}" for c in most)
        more = f" and {len(counts) - 5} more classes" if len(counts) > 5 else ""
        bare = sum(len(one) == 0 for one in self.objects)
        kept = f"; {bare} without objects, which are kept" if bare else ""
        return (
            f"{self.name}: {len(self):,} images, {int(counts.sum()):,} objects "
            f"({named}{more}){kept}"
        )


@dataclass(frozen=True, eq=False)
class DetectionSplits:
    """The parts of a data set, with the same classes, and what was amiss in it."""

    train: DetectionSet
    validation: DetectionSet
    test: DetectionSet
    issues: AnnotationIssues = field(default_factory=AnnotationIssues)

    def describe(self) -> str:
        """One line for every part, then one for everything that was cut, dropped or left out."""
        parts = (self.train, self.validation, self.test)
        return "\n".join([*(part.describe() for part in parts), *self.issues.lines()])
