"""Images with their classes, read from one file of numpy arrays."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.data.errors import DataError

__all__ = ["DataError", "Images", "read_images"]

_ARRAYS = ("x_train", "y_train", "x_test", "y_test", "classes")
_SMALLEST = 8  # pixels a side: the network halves them three times


@dataclass(frozen=True)
class Images:
    """Pixels (n, 3, height, width) of dtype uint8, classes (n,), and the names of the classes."""

    x_train: Tensor
    y_train: Tensor
    x_test: Tensor
    y_test: Tensor
    classes: tuple[str, ...]

    def fingerprint(self) -> str:
        """A word that changes when the training images do."""
        return hashlib.sha256(self.x_train.numpy().tobytes()).hexdigest()[:16]


def read_images(path: Path) -> Images:
    """Read ``x_train``, ``y_train``, ``x_test``, ``y_test`` and ``classes`` of an npz file.

    Pixels are uint8 of shape (images, height, width, 3), labels whole numbers below the number of
    classes. Nothing in the file is ever executed: arrays of Python objects are refused.
    """
    arrays = _read(path)
    classes = tuple(str(name) for name in arrays["classes"].ravel())
    parts: dict[str, Tensor] = {}
    for part in ("train", "test"):
        x, y = arrays[f"x_{part}"], arrays[f"y_{part}"]
        _check_pixels(path, f"x_{part}", x)
        _check_labels(path, f"y_{part}", y, f"x_{part}", len(x), len(classes))
        parts[f"x_{part}"] = torch.from_numpy(x).permute(0, 3, 1, 2).contiguous()
        parts[f"y_{part}"] = torch.from_numpy(y.astype(np.int64))
    if arrays["x_train"].shape[1:] != arrays["x_test"].shape[1:]:
        raise DataError(
            f"{path}: x_train and x_test must have images of one size, "
            f"got {arrays['x_train'].shape[1:]} and {arrays['x_test'].shape[1:]}"
        )
    if len(parts["y_train"].unique()) < 2:
        raise DataError(f"{path}: y_train must have at least two classes, to be told apart")
    counts = torch.bincount(parts["y_test"])
    if not bool(((counts > 1) & (counts < len(parts["y_test"]))).any()):
        raise DataError(f"{path}: y_test must have two classes, one of them with two images")
    return Images(**parts, classes=classes)


def _read(path: Path) -> dict[str, NDArray[Any]]:
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    try:
        with path.open("rb") as stream:
            file = np.load(stream, allow_pickle=False)
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise DataError(f"{path}: must be an npz file of several arrays, got a single one")
            missing = [name for name in _ARRAYS if name not in file.files]
            if missing:
                raise DataError(
                    f"{path}: {', '.join(missing)} must be in the file, "
                    f"which has {', '.join(file.files) or 'nothing'}"
                )
            return {name: file[name] for name in _ARRAYS}
    except DataError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: cannot be read as numpy arrays ({error})") from None


def _check_pixels(path: Path, name: str, x: NDArray[Any]) -> None:
    if x.dtype != np.uint8:
        raise DataError(f"{path}: {name} must be pixels of dtype uint8, 0 to 255, got {x.dtype}")
    if x.ndim != 4 or x.shape[3] != 3 or min(x.shape[1:3]) < _SMALLEST or len(x) == 0:
        raise DataError(
            f"{path}: {name} must have shape (images, height, width, 3) with at least "
            f"{_SMALLEST} pixels a side, got {x.shape}"
        )


def _check_labels(  # noqa: PLR0917
    path: Path, name: str, y: NDArray[Any], x_name: str, images: int, classes: int
) -> None:
    if not np.issubdtype(y.dtype, np.integer):
        raise DataError(f"{path}: {name} must be whole numbers, got {y.dtype}")
    if y.shape != (images,):
        raise DataError(
            f"{path}: {name} must have one class for each image of {x_name}, "
            f"shape ({images},), got {y.shape}"
        )
    if y.min() < 0 or y.max() >= classes:
        raise DataError(
            f"{path}: {name} must lie between 0 and {classes - 1}, as there are {classes} classes, "
            f"got values from {y.min()} to {y.max()}"
        )
