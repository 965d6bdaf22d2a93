"""Features of a frozen backbone, which do not change: computed once, and kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import torch
from torch import Tensor

from rankwise.tasks.detection.augmentation import coin, flipped
from rankwise.tasks.detection.dataset import DetectionBatch, DetectionDataset, numbered_rows
from rankwise.tasks.detection.network import Detector
from rankwise.tasks.detection.settings import Augmentations

Cache = dict[tuple[str, int, bool], list[Tensor]]


def can_cache(network: Detector, how: Augmentations) -> bool:
    """Whether nothing before the pyramid learns, and images are changed by mirroring alone."""
    parts = list(network.features.parts())
    changes = how.crop or how.colors or how.expand > 1
    return how.cache and network.settings.frozen == len(parts) and not changes


class FeatureCache:
    """Feature maps of the images of a set, and of their mirror images, by a frozen backbone.

    Runs that share a ``cache`` compute the maps of each image once. The set, the size of the
    images, the levels and the weights of the backbone are in the key.
    """

    def __init__(
        self, dataset: DetectionDataset, network: Detector, cache: Cache | None = None
    ) -> None:
        self.dataset, self.network = dataset, network
        self.cache: Cache = {} if cache is None else cache
        self.digest = _digest(dataset, network)

    @torch.no_grad()
    def of(self, row: int, *, mirrored: bool = False) -> list[Tensor]:
        """Return the maps of one image, each (1, channels, h, w)."""
        key = (self.digest, row, mirrored)
        if key not in self.cache:
            image = self.dataset.small(row).float() / 255
            if mirrored:
                image = image.flip(-1)
            self.cache[key] = self.network.maps(image.unsqueeze(0).to(self.network.mean.device))
        return self.cache[key]

    def stacked(self, rows: list[int]) -> list[Tensor]:
        """Return the maps of several images as a batch."""
        return [torch.cat(level) for level in zip(*map(self.of, rows), strict=True)]

    def batches(
        self, size: int, step: int, place: tuple[int, int] = (0, 1)
    ) -> Iterator[DetectionBatch]:
        """Yield the batches of ``training_batches``, with maps in place of images."""
        for places in numbered_rows(len(self.dataset), size, step, self.dataset.seed, place):
            maps, targets = [], []
            for asked, number in places:
                row = self.dataset.readable(asked)[0]
                mirrored = self.dataset.augmentations.flip and coin(self.dataset.generator(number))
                maps.append(self.of(row, mirrored=mirrored))
                small, boxes, labels = self.dataset.sample(row)
                if mirrored:
                    _, boxes = flipped(small, boxes)
                targets.append({"boxes": boxes, "labels": labels})
            yield DetectionBatch([torch.cat(level) for level in zip(*maps, strict=True)], targets)


def _digest(dataset: DetectionDataset, network: Detector) -> str:
    """Return a digest of everything that maps depend on but the row."""
    how, images = dataset.augmentations, dataset.set
    size = (how.height, how.width, how.test_side)
    asked = (images.name, images.paths, size, network.settings.levels)
    seen = hashlib.sha256(repr(asked).encode())
    for value in (*(images.pixels or ()), network.mean, network.deviation):
        seen.update(_bytes(value))
    for value in network.features.state_dict().values():
        seen.update(_bytes(value))
    return seen.hexdigest()[:16]


def _bytes(value: Tensor) -> bytes:
    return value.detach().cpu().contiguous().numpy().tobytes()
