"""Images with their classes, read from one file of numpy arrays."""

from __future__ import annotations

import hashlib
from pathlib import Path

from rankwise.data.errors import DataError
from rankwise.data.images.arrays import SplitArrays, read_split_arrays

__all__ = ["DataError", "Images", "read_images"]

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
