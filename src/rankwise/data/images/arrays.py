"""Data sets in arrays: CIFAR, Fashion-MNIST, MedMNIST, and the drawings of Omniglot."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.data._text import opened, read_fields
from rankwise.data.errors import DataError, parsing
from rankwise.data.images._cifar_families import CIFAR_FAMILIES
from rankwise.data.images._class_split import ClassListing
from rankwise.data.images._listing import Listing, Part, by_halves, in_order, located, single_file
from rankwise.data.images.image_file import BrokenImage, decode
from rankwise.files import read_npz, read_zip

_FOLDERS = ("cifar-10-batches-bin", "cifar-100-binary")
_PICKLED = ("data_batch_1", "batches.meta", "cifar-10-batches-py", "cifar-100-python", "meta")
_TEN = tuple(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin", "batches.meta.txt"
_HUNDRED = ("train.bin",), "test.bin", "fine_label_names.txt"
_PIXELS = 3 * 32 * 32


def cifar(root: Path) -> Listing:
    """Read all images (Krizhevsky 2009): the first half of the classes is to train on.

    ``root`` is an npz with ``x_train``, ``y_train``, ``x_test``, ``y_test`` and ``classes``, or
    the folder of the binary version. The Python version is made of pickles, which can run any code
    when they are read, and is refused.
    """
    path = _source(root)
    if path.is_file():
        x_train, y_train, x_test, y_test, names = read_split_arrays(path)
        pixels, labels = torch.cat([x_train, x_test]), torch.cat([y_train, y_test])
    else:
        names, labels, pixels = _from_binary(path)
    of_image = [names[number] for number in labels.tolist()]
    known = CIFAR_FAMILIES if CIFAR_FAMILIES.keys() == set(names) else {}
    halves = by_halves(of_image, names)
    return Listing(f"cifar{len(names)}", of_image, halves, pixels=pixels, super_classes=known)


def _source(root: Path) -> Path:
    if root.is_dir():
        for folder in (root, *(root / name for name in _FOLDERS)):
            if any((folder / first).exists() for first in (_TEN[0][0], _HUNDRED[0][0])):
                return folder
        if not any(root.glob("*.npz")):
            if any((root / name).exists() for name in _PICKLED):
                raise DataError(
                    f"{root}: is the Python version of CIFAR, made of pickles, which can run any "
                    "code when they are read; download the binary version instead"
                )
            raise DataError(f"{root}: holds neither {_TEN[0][0]} (CIFAR-10) nor {_HUNDRED[0][0]} "
                            "(CIFAR-100) nor an .npz")  # fmt: skip
    path = single_file(root, ".npz")
    if path.suffix != ".npz":
        raise DataError(f"{root}: must be an .npz, or the folder of the binary version")
    return path


Array = NDArray[np.generic]


class SplitArrays(NamedTuple):
    """Pixels (n, 3, h, w), uint8, and labels (n,) of training and test images, and class names."""

    x_train: Tensor
    y_train: Tensor
    x_test: Tensor
    y_test: Tensor
    classes: tuple[str, ...]


def read_split_arrays(path: Path) -> SplitArrays:
    """Read ``x_train``, ``y_train``, ``x_test``, ``y_test`` and ``classes`` of an npz file.

    Pixels are uint8 of shape (n, h, w, 3). Nothing in the file is ever executed: arrays of Python
    objects are refused.
    """
    x_train, y_train, x_test, y_test, classes = _read_arrays(path, SplitArrays._fields)
    names = tuple(str(name) for name in classes.ravel())
    pixels, labels = [], []
    for part, x, y in (("train", x_train, y_train), ("test", x_test, y_test)):
        pixels.append(torch.from_numpy(_pixels(f"{path}: x_{part}", x)))
        if y.dtype.kind not in "iu" or y.shape != x.shape[:1]:
            raise DataError(
                f"{path}: y_{part} must be {len(x)} class numbers from 0, one for each image of "
                f"x_{part}, got {y.dtype} of shape {y.shape}"
            )
        labels.append(torch.from_numpy(y.astype(np.int64)))
        low, high = (int(y.min()), int(y.max())) if y.size else (0, 0)
        if low < 0 or high >= len(names):
            raise DataError(
                f"{path}: y_{part} must be class numbers from 0 to {len(names) - 1}, as there are "
                f"{len(names)} classes, got values from {low} to {high}"
            )
    if x_train.shape[1:] != x_test.shape[1:]:
        raise DataError(
            f"{path}: x_train and x_test must have images of one size, got {x_train.shape[1:]} "
            f"and {x_test.shape[1:]}"
        )
    return SplitArrays(pixels[0], labels[0], pixels[1], labels[1], names)


def _read_arrays(path: Path, names: Sequence[str]) -> list[Array]:
    with parsing(path, "npz without pickles"):
        held = read_npz(path, foreign=True)
    if missing := [name for name in names if name not in held]:
        raise DataError(f"{path}: holds no array {' and no '.join(missing)}")
    return [held[name] for name in names]


def _pixels(name: str, x: Array, *, gray: bool = False) -> NDArray[np.uint8]:
    """Return images with the channels first; ``gray`` ones may have no channels."""
    flat = gray and x.ndim == 3
    if x.dtype != np.uint8 or not (flat or (x.ndim == 4 and x.shape[-1] == 3)):
        shapes = "(n, h, w) or (n, h, w, 3)" if gray else "(n, h, w, 3)"
        raise DataError(
            f"{name} must be bytes (uint8) of shape {shapes}, got {x.dtype} of shape {x.shape}"
            + ("; volumes (3D) cannot be read" if gray else "")
        )
    return np.ascontiguousarray(x[:, None] if flat else x.transpose(0, 3, 1, 2), np.uint8)


def _from_binary(folder: Path) -> tuple[tuple[str, ...], Tensor, Tensor]:
    """Records of a label (CIFAR-100: coarse and fine) and 32×32 bytes of red, green, blue."""
    hundred = (folder / _HUNDRED[0][0]).exists()
    train, test, of_names = _HUNDRED if hundred else _TEN
    head = 2 if hundred else 1
    names = tuple(name for _, (name,) in read_fields(folder / of_names, "class_name"))
    records, size = [], head + _PIXELS
    for file in (folder / name for name in (*train, test)):
        with parsing(file, "records"):
            data = np.fromfile(file, np.uint8)
        if not len(data) or len(data) % size:
            raise DataError(
                f"{file}: {len(data)} bytes are not a whole number of {size}-byte records"
            )
        records.append(data.reshape(-1, size))
    together = np.concatenate(records)
    pixels = together[:, head:].reshape(-1, 3, 32, 32)
    labels = torch.from_numpy(together[:, head - 1].astype(np.int64))
    if len(labels) and labels.max() >= len(names):
        raise DataError(f"{folder}: label {labels.max()} is given, and only {len(names)} names")
    return names, labels, torch.from_numpy(np.ascontiguousarray(pixels))


FASHION_CLASSES = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt",
                   "Sneaker", "Bag", "Ankle boot")  # fmt: skip
_UNSIGNED_BYTES = 0x08


def fashion_mnist(root: Path) -> Listing:
    """Read all 70 000 images (Xiao et al. 2017): classes 0–4 are to train on, 5–9 to test on."""
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
        if len(numbers) and numbers.max() >= len(FASHION_CLASSES):
            wrong = int((numbers >= len(FASHION_CLASSES)).argmax())
            raise DataError(f"{of_labels}: label {wrong} is {numbers[wrong]}, 0 to 9 are known")
        if pixels and images.shape[1:] != pixels[0].shape[1:]:
            raise DataError(f"{of_images}: images of {images.shape[1:]}, those to train on are of "
                            f"{pixels[0].shape[1:]}")  # fmt: skip
        pixels.append(images)
        labels += [FASHION_CLASSES[number] for number in numbers]
    together = torch.from_numpy(np.concatenate(pixels)).unsqueeze(1)
    return Listing("fashion-mnist", labels, by_halves(labels, FASHION_CLASSES), pixels=together)


def read_idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """Read the bytes of an idx file, compressed or not, in the shape of its header."""
    with parsing(path, "idx"), opened(path) as file:
        data = file.read()
    start = 4 + 4 * dimensions
    if len(data) < start or data[:4] != bytes([0, 0, _UNSIGNED_BYTES, dimensions]):
        raise DataError(f"{path}: is not an idx file of bytes in {dimensions} dimensions")
    shape = struct.unpack(f">{dimensions}I", data[4:start])
    wanted = int(np.prod(shape, dtype=object))
    if len(data) - start != wanted:
        raise DataError(f"{path}: {len(data) - start} bytes where its head announces {wanted}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape).copy()


def _either(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    return packed if packed.exists() and not path.exists() else path


_PARTS: dict[str, Part] = {"train": "train", "val": "validation", "test": "test"}


def medmnist(root: Path) -> ClassListing:
    """Read ``train_images``, ``train_labels``, ``val_…``, ``test_…`` of an npz (Yang et al. 2023).

    Labels are a column of class numbers, or a column of 0 and 1 for every finding; classes have
    no names in the file and are called by their numbers.
    """
    path = single_file(root, ".npz")
    wanted = [f"{name}_{what}" for name in _PARTS for what in ("images", "labels")]
    held = _read_arrays(path, wanted)
    pixels, labels = [], held[1::2]
    for name, x, y in zip(_PARTS, held[::2], labels, strict=True):
        pixels.append(_pixels(f"{path}: {name}_images", x, gray=True))
        if y.dtype.kind not in "iu" or y.ndim != 2 or len(y) != len(x) or (y.size and y.min() < 0):
            raise DataError(
                f"{path}: {name}_labels must be whole numbers of shape ({len(x)}, labels), got "
                f"{y.dtype} of shape {y.shape}"
            )
    if len({x.shape[1:] for x in pixels}) > 1 or len({y.shape[1] for y in labels}) > 1:
        raise DataError(f"{path}: the parts have images or labels of several shapes")
    parts = [part for part, x in zip(_PARTS.values(), pixels, strict=True) for _ in x]
    target = torch.from_numpy(np.concatenate(labels).astype(np.int64))
    if target.shape[1] == 1:
        target = target[:, 0]
        count = int(target.max()) + 1 if len(target) else 0
        if count > len(target):  # a class of each number gets a name, and a place in a network
            raise DataError(f"{path}: has class {count - 1} and only {len(target)} images")
    else:
        count = target.shape[1]
        if not bool(((target == 0) | (target == 1)).all()):
            raise DataError(f"{path}: labels in several columns must be 0 and 1")
    images = torch.from_numpy(np.concatenate(pixels))
    names = tuple(map(str, range(count)))
    return ClassListing(path.stem, target, names, parts=parts, pixels=images)


_SHAPE = (1, 105, 105)
_TEST = "images_evaluation"
_ARCHIVES = ("images_background", _TEST, "images_background_small1", "images_background_small2")


def omniglot(root: Path) -> Listing:
    """Read the zips of Lake et al. 2015, or the folders they unpack to: alphabet/character/drawing.

    The alphabets of ``images_evaluation`` are to test on; where it is not there, the second half
    of the alphabets by name. A drawing that is in several archives counts once.
    """
    if not root.exists():
        raise DataError(f"{root}: there is no such folder")
    # A zip goes before the folder it was unpacked to.
    places = {name: place for name in _ARCHIVES for place in (root / name, root / f"{name}.zip")
              if place.exists()}  # fmt: skip
    if not places:
        raise DataError(f"{root}: there is none of {', '.join(_ARCHIVES)} here, neither as .zip "
                        "nor as a folder")  # fmt: skip
    drawings = {name: _drawings(place) for name, place in places.items()}
    evaluated = {name.rpartition("/")[0] for _, name, _ in drawings.get(_TEST, ())}
    labels: list[str] = []
    pixels: list[Tensor] = []
    broken: dict[int, BrokenImage] = {}
    seen: dict[str, bytes] = {}
    for where, name, data in chain.from_iterable(drawings.values()):
        if name.count("/") != 2:
            raise DataError(f"{where}: must be alphabet/character/drawing in its archive")
        if name in seen:
            if seen[name] != data:
                raise DataError(f"{where}: is another drawing in another archive")
            continue
        seen[name] = data
        try:
            image = decode(data, where)[:1]
            if image.shape != _SHAPE:
                size = f"{image.shape[2]}×{image.shape[1]}"
                raise BrokenImage(where, f"is of {size} pixels, drawings are of 105×105")
            pixels.append(image)
        except BrokenImage as error:
            broken[len(labels)] = error
            pixels.append(torch.full(_SHAPE, 255, dtype=torch.uint8))
        labels.append(name.rpartition("/")[0])
    alphabets = {label: label.split("/")[0] for label in labels}
    parts: list[Part] = ["test" if label in evaluated else "train" for label in labels]
    if not evaluated:
        parts = by_halves([alphabets[label] for label in labels], in_order(alphabets.values()))
    held = torch.stack(pixels)
    return Listing("omniglot", labels, parts, pixels=held, families=alphabets, broken=broken)


def _drawings(place: Path) -> list[tuple[str, str, bytes]]:
    """Return the file for a message, alphabet/character/drawing and the bytes of every drawing."""
    if place.is_dir():
        files = sorted(place.rglob("*.png"))
        found = [(str(f), f.relative_to(place).as_posix(), f.read_bytes()) for f in files]
    else:
        inside = f"{place.stem}/"
        with parsing(place, "a zip"), place.open("rb") as file:
            found = [(f"{place}/{name}", name.removeprefix(inside), content)
                     for name, content in sorted(read_zip(file, place))
                     if name.startswith(inside) and name.endswith(".png")]  # fmt: skip
    if not found:
        raise DataError(f"{place}: there are no drawings (.png) in it")
    return found
