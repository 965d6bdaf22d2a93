"""Any images of one's own to be searched in: no classes to train on are needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from rankwise.data.images import BrokenImage, ImageSet
from rankwise.data.images.image_file import image_size
from rankwise.errors import UsageError

__all__ = ["images_in"]

_ENDINGS = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff"}


def images_in(folder: Path, told: Callable[[BrokenImage], None] | None = None) -> ImageSet:
    """All images in a folder and those inside it; the class of each is the folder it is in.

    ``told`` hears of those that are none, which are left out; without it the first ends it.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder")
    found: list[Path] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in _ENDINGS or not path.is_file():
            continue
        try:
            image_size(path)
        except BrokenImage as broken:
            if told is None:
                raise
            told(broken)
        else:
            found.append(path)
    if not found:
        endings = " ".join(sorted(_ENDINGS))
        raise UsageError(f"{folder}: there are no images ({endings})")
    names = [path.parent.name for path in found]
    classes = tuple(sorted(set(names)))
    labels = torch.tensor([classes.index(name) for name in names])
    return ImageSet(folder.name, labels, classes, paths=tuple(found))
