"""Sets of images with boxes, and their training, validation and test parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from rankwise.data.images.image_file import BrokenImage, describe_broken, read_image
from rankwise.data.images.image_set import require_range

_NAMED = 10  # boxes that one line names


@dataclass
class AnnotationIssues:
    """Boxes that were clipped or dropped, and images that were left out.

    Args:
        clipped: Boxes over the edge of their image, in words.
        dropped: Boxes without area inside their image, in words.
        broken: Images that were left out by ``skip_broken``.

    Example:
        >>> from rankwise.data.detection import AnnotationIssues
        >>> AnnotationIssues(dropped=["1.jpg: cat 5 5 5 9"]).lines()
        ['1 box without area in its image: dropped (1.jpg: cat 5 5 5 9)']
    """

    clipped: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    broken: list[BrokenImage] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return a line for each kind of issue, with its count and the first ten."""
        found = []
        for names, where, done in (
            (self.dropped, "without area in", "dropped"),
            (self.clipped, "over the edge of", "cut"),
        ):
            boxes, whose = ("box", "its") if len(names) == 1 else ("boxes", "their")
            rest = f"; and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            named = "; ".join(names[:_NAMED]) + rest
            if names:
                found.append(f"{len(names)} {boxes} {where} {whose} image: {done} ({named})")
        return [*found, f"left out: {describe_broken(self.broken)}"] if self.broken else found


@dataclass(frozen=True, eq=False)
class Objects:
    """Objects of one image.

    Args:
        boxes: x1 y1 x2 y2 in pixels of the file, float32 (n, 4).
        labels: Class ids from 0, long (n,).
        ignored: Whether an object is neither trained on nor evaluated (crowds of COCO, difficult
            objects of VOC), bool (n,).
        areas: Areas of the outlines (COCO) or of the boxes, float32 (n,).

    Raises:
        ValueError: Where the shapes do not fit together.

    Example:
        >>> import torch
        >>> from rankwise.data.detection import Objects
        >>> objects = Objects.plain(torch.tensor([[0.0, 0, 4, 2]]), torch.tensor([1]))
        >>> len(objects), objects.areas
        (1, tensor([8.]))
    """

    boxes: Tensor
    labels: Tensor
    ignored: Tensor
    areas: Tensor

    def __post_init__(self) -> None:
        n = len(self.labels)
        if tuple(self.boxes.shape) != (n, 4) or len(self.ignored) != n or len(self.areas) != n:
            raise ValueError(
                f"boxes must be of shape ({n}, 4) with a label, an area and whether it is ignored "
                f"each, got {tuple(self.boxes.shape)}, {len(self.areas)} and {len(self.ignored)}"
            )

    @classmethod
    def plain(cls, boxes: Tensor, labels: Tensor) -> Objects:
        """Return objects of which none is ignored, with the areas of their boxes."""
        boxes = boxes.reshape(-1, 4).float()
        sides = boxes[:, 2:] - boxes[:, :2]
        return cls(boxes, labels.long(), torch.zeros(len(labels), dtype=torch.bool), sides.prod(1))

    def __len__(self) -> int:
        return len(self.labels)

    def trained(self) -> tuple[Tensor, Tensor]:
        """Return boxes and labels of the objects that are not ignored."""
        return self.boxes[~self.ignored], self.labels[~self.ignored]


@dataclass(frozen=True, eq=False)
class DetectionSet:
    """Images with their objects: files that are read on demand, or pixels in memory.

    An image without objects stays: every detection in it is wrong.

    Args:
        name: Name of the set.
        classes: Name of every class id.
        objects: Objects of every image.
        sizes: Width and height of every image.
        paths: Files of the images.
        pixels: Images, uint8 (3, h, w) each; either these or paths.

    Raises:
        ValueError: Where the lengths or labels do not fit together.

    Example:
        >>> import torch
        >>> from rankwise.data.detection import DetectionSet, Objects
        >>> cell = Objects.plain(torch.tensor([[2.0, 2, 6, 6]]), torch.tensor([0]))
        >>> pixels = (torch.zeros(3, 8, 8, dtype=torch.uint8),)
        >>> DetectionSet("cells", ("red",), (cell,), ((8, 8),), pixels=pixels).describe()
        'cells: 1 images, 1 objects (red 1)'
    """

    name: str
    classes: tuple[str, ...]
    objects: tuple[Objects, ...]
    sizes: tuple[tuple[int, int], ...]
    paths: tuple[Path, ...] | None = None
    pixels: tuple[Tensor, ...] | None = None

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
            require_range("labels", one.labels, len(self.classes))

    def __len__(self) -> int:
        return len(self.objects)

    def called(self, i: int) -> str:
        """Return the name of image ``i``, for messages."""
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
        """Return the images ``indices``, in that order."""
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
        """Number of objects of every class: long, (classes,)."""
        labels = [one.labels for one in self.objects] or [torch.zeros(0, dtype=torch.long)]
        return torch.bincount(torch.cat(labels), minlength=len(self.classes))

    def describe(self) -> str:
        """Return a line with the numbers of images, objects by class, and images without any."""
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
    """Training, validation and test images with their objects, and the same classes.

    Args:
        train: Training images.
        validation: Validation images.
        test: Test images.
        issues: Boxes and images that were changed or left out on reading.

    Example:
        >>> import torch
        >>> from rankwise.data.detection import DetectionSet, DetectionSplits, Objects
        >>> cell = Objects.plain(torch.tensor([[2.0, 2, 6, 6]]), torch.tensor([0]))
        >>> pixels = (torch.zeros(3, 8, 8, dtype=torch.uint8),)
        >>> cells = DetectionSet("cells", ("red",), (cell,), ((8, 8),), pixels=pixels)
        >>> len(DetectionSplits(cells, cells, cells).describe().splitlines())
        3
    """

    train: DetectionSet
    validation: DetectionSet
    test: DetectionSet
    issues: AnnotationIssues = field(default_factory=AnnotationIssues)

    def describe(self) -> str:
        """Return a line for every part, then one for every kind of issue."""
        parts = (self.train, self.validation, self.test)
        return "\n".join([*(part.describe() for part in parts), *self.issues.lines()])
