"""Images and boxes as the files have them, and the checked set that is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from rankwise.data.detection.detection_set import AnnotationIssues, DetectionSet, Objects
from rankwise.data.errors import DataError
from rankwise.data.images.image_file import BrokenImage, describe_broken, image_size


@dataclass(frozen=True)
class RawBox:
    """One object: x1 y1 x2 y2, the name of its class, and the rest of its record."""

    corners: tuple[float, float, float, float]
    label: str
    ignored: bool = False
    area: float | None = None


@dataclass(frozen=True)
class AnnotatedImage:
    """One image; ``size`` is what the annotation says, None where it says nothing."""

    path: Path
    size: tuple[int, int] | None
    boxes: list[RawBox]


@dataclass(frozen=True)
class ImageList:
    """One part of a data set, by its name."""

    name: str
    images: list[AnnotatedImage]
    classes: tuple[str, ...] | None = None  # None: those that occur


def as_set(
    listed: ImageList, classes: tuple[str, ...], issues: AnnotationIssues, *, skip_broken: bool
) -> DetectionSet:
    """Return the part as a set; changes are recorded in ``issues``.

    Images that are missing or empty raise or are left out; so do files that are not images,
    where the annotation does not give the size.
    """
    there, sizes, broken = [], [], []
    for image in listed.images:
        if not image.path.is_file():
            broken.append(BrokenImage(image.path, "there is no such file"))
        elif image.path.stat().st_size == 0:
            broken.append(BrokenImage(image.path, "is empty"))
        else:
            try:
                sizes.append(image.size or image_size(image.path))
            except BrokenImage as error:
                broken.append(error)
            else:
                there.append(image)
    if broken and not skip_broken:
        raise DataError(f"{listed.name}: {describe_broken(broken)}")
    issues.broken += broken
    if not there:
        raise DataError(f"{listed.name}: there are no images")
    found = [
        _objects(image, size, classes, issues) for image, size in zip(there, sizes, strict=True)
    ]
    paths = tuple(image.path for image in there)
    return DetectionSet(listed.name, classes, tuple(found), tuple(sizes), paths)


def _objects(
    image: AnnotatedImage, size: tuple[int, int], classes: tuple[str, ...], issues: AnnotationIssues
) -> Objects:
    width, height = size
    kept = []
    for box in image.boxes:
        x1, y1, x2, y2 = box.corners
        cut = (
            min(max(x1, 0.0), width), min(max(y1, 0.0), height),
            min(max(x2, 0.0), width), min(max(y2, 0.0), height),
        )  # fmt: skip
        name = f"{image.path.name}: {box.label} {x1:g} {y1:g} {x2:g} {y2:g}"
        if cut[2] <= cut[0] or cut[3] <= cut[1]:
            issues.dropped.append(name)
            continue
        if cut != box.corners:
            issues.clipped.append(name)
        area = (cut[2] - cut[0]) * (cut[3] - cut[1]) if box.area is None else box.area
        kept.append((cut, classes.index(box.label), box.ignored, area))
    return Objects(
        torch.tensor([row[0] for row in kept], dtype=torch.float32).reshape(-1, 4),
        torch.tensor([row[1] for row in kept], dtype=torch.long),
        torch.tensor([row[2] for row in kept], dtype=torch.bool),
        torch.tensor([row[3] for row in kept], dtype=torch.float32),
    )
