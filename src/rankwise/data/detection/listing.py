"""What a reader hands over: pictures and boxes as the files have them, before any check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from rankwise.data.detection.base import DetectionSet, Objects
from rankwise.data.detection.findings import Findings
from rankwise.data.errors import DataError
from rankwise.data.images.image_file import BrokenImage, picture_size, tell_broken

__all__ = ["Listed", "Picture", "RawBox", "as_set"]


@dataclass(frozen=True)
class RawBox:
    """One object: x1 y1 x2 y2, the name of its class, and what else the file says."""

    corners: tuple[float, float, float, float]
    label: str
    ignored: bool = False
    area: float | None = None


@dataclass(frozen=True)
class Picture:
    """One picture; ``size`` is what the annotation says, None where it says nothing."""

    path: Path
    size: tuple[int, int] | None
    boxes: list[RawBox]


@dataclass(frozen=True)
class Listed:
    """One part of a data set, by its name."""

    name: str
    pictures: list[Picture]
    classes: tuple[str, ...] | None = None  # None: those that occur


def as_set(
    listed: Listed, classes: tuple[str, ...], findings: Findings, *, skip_broken: bool
) -> DetectionSet:
    """The part as a set; what had to be mended is noted in ``findings``.

    Pictures that are missing or empty end it, the first ten named, or are left out; so do those
    that are none, where only they themselves could say how large they are.
    """
    there, sizes, broken = [], [], []
    for picture in listed.pictures:
        if not picture.path.is_file():
            broken.append(BrokenImage(picture.path, "there is no such file"))
        elif picture.path.stat().st_size == 0:
            broken.append(BrokenImage(picture.path, "is empty"))
        else:
            try:
                sizes.append(picture.size or picture_size(picture.path))
            except BrokenImage as error:
                broken.append(error)
            else:
                there.append(picture)
    if broken and not skip_broken:
        raise DataError(f"{listed.name}: {tell_broken(broken)}")
    findings.broken += broken
    if not there:
        raise DataError(f"{listed.name}: there are no pictures")
    found = [
        _objects(picture, size, classes, findings)
        for picture, size in zip(there, sizes, strict=True)
    ]
    paths = tuple(picture.path for picture in there)
    return DetectionSet(listed.name, classes, tuple(found), tuple(sizes), paths)


def _objects(
    picture: Picture, size: tuple[int, int], classes: tuple[str, ...], findings: Findings
) -> Objects:
    width, height = size
    kept = []
    for box in picture.boxes:
        x1, y1, x2, y2 = box.corners
        cut = (
            min(max(x1, 0.0), width), min(max(y1, 0.0), height),
            min(max(x2, 0.0), width), min(max(y2, 0.0), height),
        )  # fmt: skip
        name = f"{picture.path.name}: {box.label} {x1:g} {y1:g} {x2:g} {y2:g}"
        if cut[2] <= cut[0] or cut[3] <= cut[1]:
            findings.dropped.append(name)
            continue
        if cut != box.corners:
            findings.clipped.append(name)
        area = (cut[2] - cut[0]) * (cut[3] - cut[1]) if box.area is None else box.area
        kept.append((cut, classes.index(box.label), box.ignored, area))
    return Objects(
        torch.tensor([row[0] for row in kept], dtype=torch.float32).reshape(-1, 4),
        torch.tensor([row[1] for row in kept], dtype=torch.long),
        torch.tensor([row[2] for row in kept], dtype=torch.bool),
        torch.tensor([row[3] for row in kept], dtype=torch.float32),
    )
