"""Open a detection data set by the name of its kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from rankwise.checks import require_one_of
from rankwise.data.detection._layouts import AnnotatedImage, ImageList, coco, voc
from rankwise.data.detection.detection_set import (
    AnnotationIssues,
    DetectionSet,
    DetectionSplits,
    Objects,
)
from rankwise.data.errors import DataError, parsing
from rankwise.data.images._inside import require_inside
from rankwise.data.images.image_file import BrokenImage, describe_broken, image_size

_READERS: dict[str, Callable[[Path, str], ImageList]] = {"coco": coco, "voc": voc}
KINDS = tuple(_READERS)
"""Kinds of data sets that :func:`open_detection` reads."""


def open_detection(
    kind: str,
    root: str | Path,
    *,
    train: Sequence[str],
    test: Sequence[str],
    validation: Sequence[str] = (),
    seed: int = 0,
    validation_share: float = 0.1,
    classes: Sequence[str] | None = None,
    skip_broken: bool = False,
    allow_outside: bool = False,
) -> DetectionSplits:
    """Read a detection data set and split it.

    Boxes are clipped at the edges of their image and dropped if nothing is left; ``issues`` names
    them. Images without objects stay.

    Args:
        kind: ``"coco"`` or ``"voc"``.
        root: Folder that the data set was unpacked to.
        train: Names of lists (VOC) or json files (COCO); several are joined.
        test: The same for the test images.
        validation: The same for the validation images; empty: a share of the training images.
        seed: Random seed of that share.
        validation_share: Size of that share.
        classes: Names of the classes in their order, as a trained network has them. None: those of
            the files, by name (VOC) or by id (COCO).
        skip_broken: Whether to leave out images that are missing or empty, instead of raising.
        allow_outside: Whether annotations may name files outside of ``root``, by absolute paths,
            ``..`` or links.

    Returns:
        The training, validation and test images.

    Raises:
        DataError: Where files are missing or wrong.

    Example:
        >>> import json
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from PIL import Image
        >>> from rankwise.data.detection import open_detection
        >>> names = [f"{i}.png" for i in range(4)]
        >>> content = {
        ...     "images": [{"id": i, "file_name": name} for i, name in enumerate(names)],
        ...     "annotations": [{"image_id": 0, "category_id": 1, "bbox": [1, 1, 4, 4]}],
        ...     "categories": [{"id": 1, "name": "cell"}],
        ... }
        >>> with TemporaryDirectory() as root:
        ...     for name in names:
        ...         Image.new("RGB", (8, 8)).save(Path(root, name))
        ...     size = Path(root, "cells.json").write_text(json.dumps(content))
        ...     splits = open_detection("coco", root, train=["cells.json"], test=["cells.json"])
        >>> len(splits.train), len(splits.validation), splits.test.classes
        (3, 1, ('cell',))
    """
    require_one_of("kind", kind, KINDS)
    if not 0 < validation_share < 1:
        raise ValueError(f"validation_share must be between 0 and 1, got {validation_share}")
    if not train or not test:
        raise ValueError("train and test must each name at least one list of images")
    named = {"train": train, "validation": validation, "test": test}
    root = Path(root)
    with parsing(root, f"{kind} annotations"):
        parts = {part: [_READERS[kind](root, name) for name in names]
                 for part, names in named.items() if names}  # fmt: skip
        everything = [listed for lists in parts.values() for listed in lists]
        if not allow_outside:
            require_inside(root, (one.path for listed in everything for one in listed.images))
    known = _classes(everything, classes)
    issues = AnnotationIssues()
    found = {}
    for part, lists in parts.items():
        images = [image for listed in lists for image in listed.images]
        found[part] = as_set(part, images, known, issues, skip_broken=skip_broken)
    if not validation:
        whole = found["train"]
        if len(whole) < 2:
            raise DataError("one training image cannot be split; name a list for validation")
        order = np.random.default_rng(seed).permutation(len(whole)).tolist()
        taken = min(len(whole) - 1, max(1, round(validation_share * len(whole))))
        found["train"] = whole.subset(sorted(order[taken:]))
        found["validation"] = whole.subset(sorted(order[:taken]), "validation")
    return DetectionSplits(**found, issues=issues)


def _classes(lists: list[ImageList], given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the classes, ``given`` or those of the files; every object is of one of them."""
    named = [(image, box.label) for part in lists for image in part.images for box in image.boxes]
    if given is None:
        given = lists[0].classes
        for other in lists[1:]:
            if other.classes != given:
                raise DataError(f"{lists[0].name} and {other.name} have other categories")
    known = tuple(sorted({label for _, label in named}) if given is None else given)
    if not known:
        raise DataError(f"{', '.join(part.name for part in lists)}: there are no objects")
    for image, label in named:
        if label not in known:
            raise DataError(
                f"{image.path.name} has a {label[:80]}, and the classes are {', '.join(known[:20])}"
            )
    return known


def as_set(
    name: str,
    images: Sequence[AnnotatedImage],
    classes: tuple[str, ...],
    issues: AnnotationIssues,
    *,
    skip_broken: bool,
) -> DetectionSet:
    """Return images as a set; changes are recorded in ``issues``.

    Images that are missing or empty raise or are left out; so do files that are not images,
    where the annotation does not give the size.
    """
    there, sizes, broken = [], [], []
    for image in images:
        try:
            if image.path.is_file() and image.path.stat().st_size == 0:
                raise BrokenImage(image.path, "is empty")
            # A file that is missing is read all the same: that raises.
            known = image.size if image.path.is_file() else None
            sizes.append(known or image_size(image.path))
            there.append(image)
        except BrokenImage as error:
            broken.append(error)
    if broken and not skip_broken:
        raise DataError(f"{name}: {describe_broken(broken)}")
    issues.broken += broken
    if not there:
        raise DataError(f"{name}: there are no images")
    found = tuple(_objects(*pair, classes, issues) for pair in zip(there, sizes, strict=True))
    return DetectionSet(name, classes, found, tuple(sizes), tuple(image.path for image in there))


def _objects(
    image: AnnotatedImage, size: tuple[int, int], classes: tuple[str, ...], issues: AnnotationIssues
) -> Objects:
    width, height = size
    kept: list[tuple[tuple[float, ...], int, bool, float]] = []
    for box in image.boxes:
        x1, y1, x2, y2 = box.corners
        left, right = (min(max(x, 0.0), width) for x in (x1, x2))
        top, bottom = (min(max(y, 0.0), height) for y in (y1, y2))
        name = f"{image.path.name}: {box.label} {x1:g} {y1:g} {x2:g} {y2:g}"
        if right <= left or bottom <= top:
            issues.dropped.append(name)
            continue
        cut = (left, top, right, bottom)
        if cut != box.corners:
            issues.clipped.append(name)
        area = (right - left) * (bottom - top) if box.area is None else box.area
        kept.append((cut, classes.index(box.label), box.ignored, area))
    corners, labels, ignored, areas = zip(*kept, strict=True) if kept else ((),) * 4
    return Objects(
        torch.tensor(corners, dtype=torch.float32).reshape(-1, 4),
        torch.tensor(labels, dtype=torch.long),
        torch.tensor(ignored, dtype=torch.bool),
        torch.tensor(areas, dtype=torch.float32),
    )
