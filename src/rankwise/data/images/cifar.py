"""CIFAR-10 and CIFAR-100: their binary files, or arrays in an npz."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.data.errors import DataError
from rankwise.data.images.lines import read_fields
from rankwise.data.images.listing import Listing, by_halves

__all__ = ["cifar"]

_ARRAYS = ("x_train", "y_train", "x_test", "y_test", "classes")
_FOLDERS = ("cifar-10-batches-bin", "cifar-100-binary")
_PICKLED = ("data_batch_1", "batches.meta", "cifar-10-batches-py", "cifar-100-python", "meta")
_TEN = tuple(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin", "batches.meta.txt"
_HUNDRED = ("train.bin",), "test.bin", "fine_label_names.txt"
_PIXELS = 3 * 32 * 32


def cifar(root: Path) -> Listing:
    """All images (Krizhevsky 2009): the first half of the classes trains, the second half tests.

    ``root`` is an npz with ``x_train``, ``y_train``, ``x_test``, ``y_test`` and ``classes``, or
    the folder of the binary version. The Python version is made of pickles, which can run any code
    when they are read, and is refused.
    """
    path = _source(root)
    if path.is_file():
        names, labels, pixels = _from_npz(path)
    else:
        names, labels, pixels = _from_binary(path)
    if len(labels) and labels.max() >= len(names):
        raise DataError(f"{path}: label {labels.max()} is given, and only {len(names)} names")
    of_image = [names[number] for number in labels]
    held = torch.from_numpy(pixels)
    return Listing(f"cifar{len(names)}", of_image, by_halves(of_image, names), pixels=held)


def _source(root: Path) -> Path:
    if not root.exists():
        raise DataError(f"{root}: there is no such file or folder")
    if root.is_file():
        if root.suffix != ".npz":
            raise DataError(f"{root}: must be an .npz, or the folder of the binary version")
        return root
    for folder in (root, *(root / name for name in _FOLDERS)):
        if any((folder / first).exists() for first in (_TEN[0][0], _HUNDRED[0][0])):
            return folder
    arrays = sorted(root.glob("*.npz"))
    if len(arrays) == 1:
        return arrays[0]
    if arrays:
        names = ", ".join(path.name for path in arrays)
        raise DataError(f"{root}: holds several .npz ({names}); give the one to read")
    if any((root / name).exists() for name in _PICKLED):
        raise DataError(
            f"{root}: is the Python version of CIFAR, made of pickles, which can run any code when "
            "they are read; download the binary version instead"
        )
    raise DataError(f"{root}: holds neither {_TEN[0][0]} (CIFAR-10) nor {_HUNDRED[0][0]} "
                    "(CIFAR-100) nor an .npz")  # fmt: skip


Found = tuple[list[str], NDArray[np.integer], NDArray[np.uint8]]


def _from_npz(path: Path) -> Found:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            if missing := [name for name in _ARRAYS if name not in held]:
                raise DataError(f"{path}: holds no array {' and no '.join(missing)}")
            x_train, y_train, x_test, y_test, classes = (held[name] for name in _ARRAYS)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}: cannot be read as npz without pickles: {error}") from error
    for part, x, y in (("train", x_train, y_train), ("test", x_test, y_test)):
        if x.dtype != np.uint8 or x.ndim != 4 or x.shape[-1] != 3:
            raise DataError(f"{path}: x_{part} must be bytes of shape (n, h, w, 3), got {x.dtype} "
                            f"of shape {x.shape}")  # fmt: skip
        if y.dtype.kind not in "iu" or y.shape != x.shape[:1] or (y.size and y.min() < 0):
            raise DataError(f"{path}: y_{part} must be {len(x)} class numbers from 0, got "
                            f"{y.dtype} of shape {y.shape}")  # fmt: skip
    if x_train.shape[1:] != x_test.shape[1:]:
        raise DataError(f"{path}: x_train has images of {x_train.shape[1:]}, x_test of "
                        f"{x_test.shape[1:]}")  # fmt: skip
    pixels = np.concatenate([x_train, x_test]).transpose(0, 3, 1, 2)
    labels = np.concatenate([y_train, y_test]).astype(np.int64)
    return [str(name) for name in classes], labels, np.ascontiguousarray(pixels)


def _from_binary(folder: Path) -> Found:
    """Records of a label (CIFAR-100: coarse and fine) and 32×32 bytes of red, green, blue."""
    hundred = (folder / _HUNDRED[0][0]).exists()
    train, test, of_names = _HUNDRED if hundred else _TEN
    head = 2 if hundred else 1
    names = [name for _, (name,) in read_fields(folder / of_names, 1, "class_name")]
    records = [_records(folder / file, head + _PIXELS) for file in (*train, test)]
    together = np.concatenate(records)
    pixels = together[:, head:].reshape(-1, 3, 32, 32)
    return names, together[:, head - 1].astype(np.int64), np.ascontiguousarray(pixels)


def _records(file: Path, size: int) -> NDArray[np.uint8]:
    if not file.exists():
        raise DataError(f"{file}: there is no such file")
    data = np.fromfile(file, np.uint8)
    if not len(data) or len(data) % size:
        raise DataError(f"{file}: {len(data)} bytes are no whole number of {size}-byte records")
    return data.reshape(-1, size)
