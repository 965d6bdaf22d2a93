"""Image files, read as RGB, and the errors of those that cannot be read."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from rankwise.data.errors import DataError
from rankwise.errors import UsageError, foreign_errors
from rankwise.limits import MAX_PIXELS

_EIGHT_BIT = frozenset({"1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK",
                        "YCbCr", "LAB", "HSV"})  # fmt: skip
_HEADS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM", b"RIFF", b"II*\0", b"MM\0*")
_NAMED = 10  # files that one message names
_PIXELS = ("AVIF", "BMP", "DIB", "GIF", "ICO", "JPEG", "JPEG2000", "MPO", "PCX", "PNG", "PPM",
           "SGI", "TGA", "TIFF", "WEBP")  # fmt: skip
Image.init()
FORMATS = tuple(name for name in _PIXELS if name in Image.OPEN)  # a build of Pillow may lack one
"""Formats that are read, by Pillow's names: pixels, and none that another program renders."""


class BrokenImage(DataError):  # noqa: N818  (what is raised is the image, with its path)
    """An image that is not there or cannot be read: ``path`` and ``reason``."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = Path(path)
        self.reason = reason

    def __reduce__(self) -> tuple[type[BrokenImage], tuple[Path, str]]:
        return BrokenImage, (self.path, self.reason)  # so that it comes home from a worker


@contextmanager
def _broken_by(path: Path | str) -> Iterator[None]:
    """Raise errors of reading an image as :class:`BrokenImage`."""
    try:
        with foreign_errors(""), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about damage: a file is read, or it is not
            yield
    except BrokenImage:
        raise
    except UsageError as error:
        found = error.__cause__
        if isinstance(found, FileNotFoundError):
            raise BrokenImage(path, "there is no such file") from found
        if isinstance(found, UnidentifiedImageError):
            raise BrokenImage(path, "is not an image") from found
        raise BrokenImage(path, f"cannot be read{error}") from found


def read_image(path: Path) -> Tensor:
    """Read an image file as RGB, uint8 (3, h, w), or raise :class:`BrokenImage`."""
    with _broken_by(path):
        return decode(path.read_bytes(), path)


def decode(data: bytes, path: Path | str) -> Tensor:
    """Decode the bytes of an image file to uint8 (3, h, w); ``path`` is for error messages.

    A transparent image is laid on white.
    """
    if not data:
        raise BrokenImage(path, "is empty")
    with _broken_by(path), Image.open(BytesIO(data), formats=FORMATS) as image:
        width, height = image.size
        if width * height > MAX_PIXELS:  # before they are unpacked
            raise BrokenImage(
                path,
                f"has {width}×{height} pixels, at most {MAX_PIXELS:,} are read; make it smaller",
            )
        image.load()
        if image.mode not in _EIGHT_BIT:
            raise ValueError(f"has pixels of mode {image.mode}; 8 bits a channel can be read")
        seen: Image.Image = image
        if {"A", "a"} & set(image.getbands()) or "transparency" in image.info:
            white = Image.new("RGBA", image.size, "white")
            seen = Image.alpha_composite(white, image.convert("RGBA"))
        pixels = np.array(seen.convert("RGB"))
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()


def damage(path: Path) -> BrokenImage | None:
    """Return the error of a file that its first bytes show; None where they show none."""
    try:
        with _broken_by(path), path.open("rb") as file:
            head = file.read(8)
        if not head:
            raise BrokenImage(path, "is empty")
        if not head.startswith(_HEADS):  # to ask Pillow of every file of a large set takes minutes
            image_size(path)
    except BrokenImage as broken:
        return broken
    return None


def image_size(path: Path) -> tuple[int, int]:
    """Return width and height from the header of the file."""
    with _broken_by(path), Image.open(path, formats=FORMATS) as image:
        return image.size


def unreadable(paths: Sequence[Path], rows: Iterable[int]) -> dict[int, BrokenImage]:
    """Read the files of some rows, and return the errors of those that cannot be read, by row."""
    found = {}
    for i in rows:
        try:
            read_image(paths[i])
        except BrokenImage as broken:
            found[i] = broken
    return found


def require_files(
    name: str, paths: Sequence[Path], known: Mapping[int, BrokenImage], *, skip_broken: bool
) -> dict[int, BrokenImage]:
    """Return the errors of files that are missing, empty or not images, by row, or raise.

    ``known`` are those that were found on reading.
    """
    found = {i: error for i, path in enumerate(paths) if (error := damage(path)) is not None}
    broken = {**known, **found}
    if broken and not skip_broken:
        raise DataError(
            f"{name}: {describe_broken(broken.values())}; leave them out with "
            "skip_broken (--skip-broken)"
        )
    return broken


def require_images(name: str, images: Sized, broken: Collection[BrokenImage]) -> None:
    """Raise where a part has no images, as all of them are ``broken`` or there were none."""
    if not len(images):
        why = f"; {describe_broken(broken)}" if broken else ""
        raise DataError(f"{name}: there are no images{why}")


def describe_broken(broken: Iterable[BrokenImage]) -> str:
    """Return a line with the number of images that cannot be read, and the first ten of them."""
    found = list(broken)
    named = "; ".join(str(image) for image in found[:_NAMED])
    what = "image is" if len(found) == 1 else "images are"
    rest = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"{len(found)} {what} missing or damaged: {named}{rest}"
