"""Training and test images of one npz file, and two random augmentations of each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from rankwise.data.errors import DataError
from rankwise.data.images.arrays import SplitArrays, read_split_arrays
from rankwise.extras import require

_MIN_SIDE = 8  # pixels: the network halves them three times


class Images(SplitArrays):
    """Training and test images with their labels, and the names of the classes."""

    def fingerprint(self) -> str:
        """Return a digest of the training images."""
        return hashlib.sha256(self.x_train.numpy().tobytes()).hexdigest()[:16]


def read_images(path: Path) -> Images:
    """Read an npz file (:func:`~rankwise.data.images.arrays.read_split_arrays`) for contrast."""
    images = Images(*read_split_arrays(path))
    shape = tuple(images.x_train.shape)
    if min(shape[2:]) < _MIN_SIDE or not len(images.x_train) or not len(images.x_test):
        raise DataError(
            f"{path}: x_train and x_test must have images of at least {_MIN_SIDE} pixels a side, "
            f"got {shape[0]} and {len(images.x_test)} images of {shape[3]}×{shape[2]}"
        )
    if len(images.y_train.unique()) < 2:
        raise DataError(f"{path}: y_train must have at least two classes, got one")
    counts = images.y_test.bincount()
    if (counts > 0).sum() < 2 or counts.max() < 2:
        raise DataError(
            f"{path}: y_test must have two classes, one of them with two images, for retrieval"
        )
    return images


def make_views(height: int, width: int) -> Callable[[Tensor], Tensor]:
    """Return a function of pixels (n, 3, h, w), uint8, to two views (2n, 3, h, w) in [0, 1].

    The augmentations of SimCLR for small images (Chen et al. 2020) without blur: a crop of 20 to
    100 % of the area, flip, brightness, contrast, saturation 0.4 and hue 0.1 with probability 0.8,
    gray with 0.2. All randomness comes from torch's global generator.
    """
    require("rankwise.tasks.contrast", "kornia")
    from kornia import augmentation  # noqa: PLC0415  (an extra, and a second to import)

    steps = torch.nn.Sequential(
        augmentation.RandomResizedCrop((height, width), scale=(0.2, 1.0)),
        augmentation.RandomHorizontalFlip(),
        augmentation.ColorJitter(0.4, 0.4, 0.4, 0.1, p=0.8),
        augmentation.RandomGrayscale(p=0.2),
    )

    @torch.no_grad()
    def views(pixels: Tensor) -> Tensor:
        twice = pixels.repeat(2, 1, 1, 1).float() / 255
        changed: Tensor = steps(twice)
        return changed.clamp(0, 1)

    return views
