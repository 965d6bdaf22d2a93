"""What a frozen backbone sees in a picture does not change: looked at once, and kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from rankwise.tasks.detection.augmentation import coin, flipped
from rankwise.tasks.detection.batches import Batch, Pictures, numbered_rows
from rankwise.tasks.detection.network import Detector
from rankwise.tasks.detection.settings import Augmentations

__all__ = ["KeptMaps", "can_keep"]

_Kept = dict[tuple[str, int, bool], list[Tensor]]


def can_keep(network: Detector, views: Augmentations) -> bool:
    """Whether nothing before the pyramid learns, and pictures are changed by mirroring alone."""
    parts = list(network.features.parts())
    changes = views.crop or views.colors or views.expand > 1
    return views.cache and network.settings.frozen == len(parts) and not changes


class KeptMaps:
    """Maps of the pictures of a set, and of their mirror images, by a frozen backbone.

    ``kept`` is where they are: give the same dictionary to several runs, and each picture is
    looked at once. Set, size of the pictures, levels and weights of the backbone are in the key.
    """

    def __init__(self, pictures: Pictures, network: Detector, kept: _Kept | None = None) -> None:
        self.pictures, self.network = pictures, network
        self.kept: _Kept = {} if kept is None else kept
        self.seen_by = _words(pictures, network)

    @torch.no_grad()
    def of(self, row: int, *, mirrored: bool = False) -> list[Tensor]:
        """The maps of one picture, each (1, channels, h, w)."""
        key = (self.seen_by, row, mirrored)
        if key not in self.kept:
            picture = self.pictures.small(row).float() / 255
            if mirrored:
                picture = picture.flip(-1)
            self.kept[key] = self.network.maps(picture.unsqueeze(0).to(self.network.mean.device))
        return self.kept[key]

    def stacked(self, rows: list[int]) -> list[Tensor]:
        """The maps of several pictures as a batch."""
        return [torch.cat(level) for level in zip(*map(self.of, rows), strict=True)]

    def batches(self, size: int, step: int, place: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        """What ``training_batches`` gives, with maps in place of pictures."""
        for places in numbered_rows(len(self.pictures), size, step, self.pictures.seed, place):
            maps, targets = [], []
            for asked, number in places:
                row = self.pictures.readable(asked)[0]
                mirrored = self.pictures.views.flip and coin(self.pictures.generator(number))
                maps.append(self.of(row, mirrored=mirrored))
                small, boxes, labels = self.pictures.sample(row)
                if mirrored:
                    _, boxes = flipped(small, boxes)
                targets.append({"boxes": boxes, "labels": labels})
            yield Batch([torch.cat(level) for level in zip(*maps, strict=True)], targets)


def _words(pictures: Pictures, network: Detector) -> str:
    """What maps depend on beside the row: other pictures or another look at them, another word."""
    views, shown = pictures.views, pictures.set
    size = (views.height, views.width, views.test_side)
    asked = (shown.name, shown.paths, size, network.settings.levels)
    seen = hashlib.sha256(repr(asked).encode())
    for value in (*(shown.pixels or ()), network.mean, network.deviation):
        seen.update(_bytes(value))
    for value in network.features.state_dict().values():
        seen.update(_bytes(value))
    return seen.hexdigest()[:16]


def _bytes(value: Tensor) -> bytes:
    found: Any = value.detach().cpu().contiguous().numpy()
    return bytes(found.tobytes())
