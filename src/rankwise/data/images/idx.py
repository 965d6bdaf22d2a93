"""Fashion-MNIST in the idx files that MNIST came in."""

from __future__ import annotations

import gzip
import struct
import zlib
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.data.errors import DataError
from rankwise.data.images.lines import located
from rankwise.data.images.listing import Listing, by_halves

__all__ = ["fashion_mnist", "read_idx"]

_CLASSES = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
            "Bag", "Ankle boot")  # fmt: skip
_UNSIGNED_BYTES = 0x08


def fashion_mnist(root: Path) -> Listing:
    """All 70 000 images (Xiao et al. 2017): classes 0–4 are to train on, 5–9 to test on."""
    first = "train-images-idx3-ubyte"
    folder = located(root, "fashion_mnist", first, f"{first}.gz")
    pixels: list[NDArray[np.uint8]] = []
    labels: list[str] = []
    for part in ("train", "t10k"):
        of_images = _either(folder / f"{part}-images-idx3-ubyte")
        of_labels = _either(folder / f"{part}-labels-idx1-ubyte")
        images, numbers = read_idx(of_images, 3), read_idx(of_labels, 1)
        if len(images) != len(numbers):
            raise DataError(f"{of_labels}: {len(numbers)} labels for {len(images)} images")
        if len(numbers) and numbers.max() >= len(_CLASSES):
            wrong = int((numbers >= len(_CLASSES)).argmax())
            raise DataError(f"{of_labels}: label {wrong} is {numbers[wrong]}, 0 to 9 are known")
        if pixels and images.shape[1:] != pixels[0].shape[1:]:
            raise DataError(f"{of_images}: images of {images.shape[1:]}, those to train on are of "
                            f"{pixels[0].shape[1:]}")  # fmt: skip
        pixels.append(images)
        labels += [_CLASSES[number] for number in numbers]
    together = torch.from_numpy(np.concatenate(pixels)).unsqueeze(1)
    return Listing("fashion-mnist", labels, by_halves(labels, _CLASSES), pixels=together)


def read_idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """The bytes of an idx file, packed or not, in the shape that its head gives."""
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    start = 4 + 4 * dimensions
    if len(data) < start or data[:4] != bytes([0, 0, _UNSIGNED_BYTES, dimensions]):
        raise DataError(f"{path}: is no idx file of bytes in {dimensions} dimensions")
    shape = struct.unpack(f">{dimensions}I", data[4:start])
    wanted = int(np.prod(shape, dtype=object))
    if len(data) - start != wanted:
        raise DataError(f"{path}: {len(data) - start} bytes where its head announces {wanted}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape).copy()


def _either(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    return packed if packed.exists() and not path.exists() else path
