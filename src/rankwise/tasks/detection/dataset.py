"""Images with boxes for the network: resized once, augmented, or as features that are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from rankwise.data.detection import DetectionSet
from rankwise.data.images import BrokenImage
from rankwise.tasks.detection.augmentation import augmented, coin, flipped, rescaled, resized
from rankwise.tasks.detection.network import Detector
from rankwise.tasks.detection.settings import Augmentations
from rankwise.vision._loading import load_batches
from rankwise.vision.image_dataset import OnBroken

_MULTIPLE = 32  # to which the sides of an image that is not stretched are padded

Target = dict[str, Tensor]
Cache = dict[tuple[str, int, bool], list[Tensor]]  # maps by set and network, row, mirrored


class DetectionBatch(NamedTuple):
    """Images in [0, 1], (B, 3, h, w), or their maps by a frozen backbone; and their objects."""

    images: Tensor | list[Tensor]
    targets: list[Target]


class EvaluationImage(NamedTuple):
    """Image for evaluation, and the factors of its resizing (across, down)."""

    image: Tensor
    stretch: tuple[float, float]


class DetectionDataset(Dataset[tuple[Tensor, Target]]):
    """Resized images of a set with their boxes, by row and by the number of their augmentation.

    ``on_broken`` is called with an image that cannot be read, and the next one replaces it; without
    it, such an image raises.
    """

    def __init__(
        self,
        images: DetectionSet,
        augmentations: Augmentations,
        seed: int = 0,
        on_broken: OnBroken | None = None,
    ) -> None:
        self.set, self.augmentations = images, augmentations
        self.seed, self.on_broken = seed, on_broken
        self._kept: dict[int, Tensor] = {}

    def __len__(self) -> int:
        return len(self.set)

    def __getitem__(self, place: tuple[int, int]) -> tuple[Tensor, Target]:
        row, number = place
        image, boxes, labels = self.sample(row)
        sample = (image.float() / 255, boxes, labels)
        found, boxes, labels = augmented(sample, self.augmentations, self.generator(number))
        return found, {"boxes": boxes, "labels": labels}

    def generator(self, number: int) -> torch.Generator:
        """Return the generator of the augmentation of the image with this number."""
        words = np.random.SeedSequence((self.seed, number))
        return torch.Generator().manual_seed(int(words.generate_state(1)[0]))

    def sample(self, row: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return the resized image, uint8, with the boxes and labels that are trained on."""
        row, image = self.readable(row)
        boxes, labels = self.set.objects[row].trained()
        width, height = self.set.sizes[row]
        return image, rescaled(boxes, (height, width), (image.shape[1], image.shape[2])), labels

    def small(self, row: int) -> Tensor:
        """Return the resized image before its augmentation: uint8, (3, h, w)."""
        if row in self._kept:
            return self._kept[row]
        size = (self.augmentations.height, self.augmentations.width)
        image = resized(self.set.load(row), size)
        if self.augmentations.cache:
            self._kept[row] = image
        return image

    def readable(self, row: int) -> tuple[int, Tensor]:
        """Return row and pixels of this image or, where it cannot be read, of the next that can."""
        for further in range(len(self)):
            other = (row + further) % len(self)
            try:
                return other, self.small(other)
            except BrokenImage as broken:
                if self.on_broken is None:
                    raise
                self.on_broken(broken)
        raise BrokenImage("all images", "cannot be read")


def training_batches(
    images: DetectionDataset,
    size: int,
    step: int,
    workers: int = 0,
    place: tuple[int, int] = (0, 1),
) -> Iterator[DetectionBatch]:
    """Yield the batches of steps ``step``, ``step`` + 1, … without end, epoch after epoch.

    The augmentation of an image follows from the seed and the number of images before it, so
    that a resumed run continues with the same numbers. ``place`` is (rank, world size).
    """
    numbered = numbered_rows(len(images), size, step, images.seed, place)
    return load_batches(images, numbered, _collated, workers)


def numbered_rows(
    rows: int, size: int, step: int, seed: int, place: tuple[int, int] = (0, 1)
) -> Iterator[list[tuple[int, int]]]:
    """Yield (row, number) of the images of each batch, from a step on.

    Those of several processes follow each other: together they are one large batch.
    """
    rank, world = place
    for first in count((step * world + rank) * size, world * size):
        places = [(number, *divmod(number, rows)) for number in range(first, first + size)]
        yield [(int(_order(rows, seed, epoch)[i]), number) for number, epoch, i in places]


@lru_cache(maxsize=2)  # a batch may have images of two epochs
def _order(rows: int, seed: int, epoch: int) -> NDArray[np.int64]:
    words = np.random.SeedSequence((seed, epoch, 1))
    return np.random.default_rng(words).permutation(rows)


def evaluation_images(images: Sequence[Tensor], how: Augmentations) -> list[EvaluationImage]:
    """Return images, uint8 of any size, as evaluation needs them: in [0, 1], nothing random.

    Stretched as in training, or with ``test_side`` in their own shape, the shorter side at most
    that long and both padded to a multiple of 32 with nothing.
    """
    found = []
    for image in images:
        height, width = image.shape[1:]
        size = (how.height, how.width)
        if how.test_side is not None:
            factor = min(1.0, how.test_side / min(height, width))
            size = (max(1, round(height * factor)), max(1, round(width * factor)))
        small = resized(image, size).float() / 255
        if how.test_side is not None:
            down, right = (-side % _MULTIPLE for side in size)
            small = torch.nn.functional.pad(small, (0, right, 0, down))
        found.append(EvaluationImage(small, (size[1] / width, size[0] / height)))
    return found


def _collated(items: list[tuple[Tensor, Target]]) -> DetectionBatch:
    return DetectionBatch(
        torch.stack([image for image, _ in items]), [target for _, target in items]
    )


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
    weights = network.features.state_dict().values()
    for value in (*(images.pixels or ()), network.mean, network.deviation, *weights):
        seen.update(value.detach().cpu().contiguous().numpy().tobytes())
    return seen.hexdigest()[:16]
