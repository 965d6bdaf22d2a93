"""MedMNIST: small medical images in one npz by task."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.data.errors import DataError
from rankwise.data.images.listing import Part
from rankwise.data.images.pool import Pool

__all__ = ["medmnist"]

_PARTS: dict[str, Part] = {"train": "train", "val": "validation", "test": "test"}


def medmnist(root: Path) -> Pool:
    """``train_images``, ``train_labels``, ``val_…``, ``test_…`` of an npz (Yang et al. 2023).

    Labels are a column of class numbers, or a column of 0 and 1 for every finding; classes have
    no names in the file and are called by their numbers.
    """
    path = _source(root)
    pixels: list[NDArray[np.uint8]] = []
    labels: list[NDArray[np.int64]] = []
    parts: list[Part] = []
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            for name, part in _PARTS.items():
                if missing := [n for n in (f"{name}_images", f"{name}_labels") if n not in held]:
                    raise DataError(f"{path}: holds no array {' and no '.join(missing)}")
                x, y = _checked(path, name, held[f"{name}_images"], held[f"{name}_labels"])
                pixels.append(x)
                labels.append(y)
                parts += [part] * len(x)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}: cannot be read as npz without pickles: {error}") from error
    if len({x.shape[1:] for x in pixels} | {()}) > 2 or len({y.shape[1] for y in labels}) > 1:
        raise DataError(f"{path}: the parts have images or labels of several shapes")
    target = torch.from_numpy(np.concatenate(labels))
    held_pixels = torch.from_numpy(np.concatenate(pixels))
    if target.shape[1] == 1:
        target = target[:, 0]
        count = int(target.max()) + 1 if len(target) else 0
    else:
        count = target.shape[1]
        if not bool(((target == 0) | (target == 1)).all()):
            raise DataError(f"{path}: labels in several columns must be 0 and 1")
    names = tuple(map(str, range(count)))
    return Pool(path.stem, target, names, parts=parts, pixels=held_pixels)


def _checked(
    path: Path, part: str, x: NDArray[np.uint8], y: NDArray[np.integer]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    gray = x.ndim == 3
    if x.dtype != np.uint8 or not (gray or (x.ndim == 4 and x.shape[-1] == 3)):
        raise DataError(
            f"{path}: {part}_images must be bytes of shape (n, h, w) or (n, h, w, 3), got "
            f"{x.dtype} of shape {x.shape}; volumes (3D) cannot be read"
        )
    if y.dtype.kind not in "iu" or y.ndim != 2 or len(y) != len(x) or (y.size and y.min() < 0):
        raise DataError(
            f"{path}: {part}_labels must be whole numbers of shape ({len(x)}, labels), got "
            f"{y.dtype} of shape {y.shape}"
        )
    channels_first = x[:, None] if gray else x.transpose(0, 3, 1, 2)
    return np.ascontiguousarray(channels_first), y.astype(np.int64)


def _source(root: Path) -> Path:
    if not root.exists():
        raise DataError(f"{root}: there is no such file or folder")
    if root.is_file():
        return root
    arrays = sorted(root.glob("*.npz"))
    if len(arrays) != 1:
        names = ", ".join(path.name for path in arrays) or "none"
        raise DataError(f"{root}: a folder must hold exactly one .npz, got {names}")
    return arrays[0]
