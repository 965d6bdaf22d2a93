"""Image files, read as RGB, and the errors of those that cannot be read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from rankwise.data.errors import DataError

_EIGHT_BIT = frozenset({"1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK",
                        "YCbCr", "LAB", "HSV"})  # fmt: skip
_HEADS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM", b"RIFF", b"II*\0", b"MM\0*")
_NAMED = 10  # files that one message names


class BrokenImage(DataError):  # noqa: N818  (what is raised is the image, with its path)
    """An image that is not there or cannot be read: ``path`` and ``reason``."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = Path(path)
        self.reason = reason

    def __reduce__(self) -> tuple[type[BrokenImage], tuple[Path, str]]:
        return BrokenImage, (self.path, self.reason)  # so that it comes home from a worker


def read_image(path: Path) -> Tensor:
    """Read an image file as RGB, uint8 (3, h, w), or raise :class:`BrokenImage`."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BrokenImage(path, _why(error)) from error
    return decode(data, path)


def decode(data: bytes, path: Path | str) -> Tensor:
    """Decode the bytes of an image file to uint8 (3, h, w); ``path`` is for error messages.

    A transparent image is laid on white.
    """
    if not data:
        raise BrokenImage(path, "is empty")
    try:
        with Image.open(BytesIO(data)) as image:
            image.load()
            if image.mode not in _EIGHT_BIT:
                raise ValueError(f"has pixels of mode {image.mode}; 8 bits a channel can be read")
            clear = {"A", "a"} & set(image.getbands()) or "transparency" in image.info
            pixels = np.array(_on_white(image) if clear else image.convert("RGB"))
    except Exception as error:  # the parsers of many formats raise whatever they stumbled over
        raise BrokenImage(path, _why(error)) from error
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()


def damage(path: Path) -> BrokenImage | None:
    """Return the error of a file that its first bytes show; None where they show none."""
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        return BrokenImage(path, _why(error))
    if not head:
        return BrokenImage(path, "is empty")
    if head.startswith(_HEADS):  # to ask Pillow of every file of a large set takes minutes
        return None
    try:
        image_size(path)
    except BrokenImage as broken:
        return broken
    return None


def image_size(path: Path) -> tuple[int, int]:
    """Return width and height from the header of the file."""
    try:
        with Image.open(path) as image:
            return image.size
    except Exception as error:
        raise BrokenImage(path, _why(error)) from error


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
    name: str,
    paths: Sequence[Path],
    known: Mapping[int, BrokenImage],
    *,
    skip_broken: bool,
) -> dict[int, BrokenImage]:
    """Return the errors of files that are missing, empty or not images, by row, or raise.

    ``known`` are those that were found on reading.
    """
    looked_at = ((i, damage(path)) for i, path in enumerate(paths))
    broken = {**known, **{i: error for i, error in looked_at if error is not None}}
    if broken and not skip_broken:
        raise DataError(f"{name}: {describe_broken(broken.values())}; skip_broken leaves them out")
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


def _on_white(image: Image.Image) -> Image.Image:
    seen = image.convert("RGBA")
    white = Image.new("RGBA", seen.size, "white")
    return Image.alpha_composite(white, seen).convert("RGB")


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, UnidentifiedImageError):
        return "is not an image"
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"cannot be read: {reason or type(error).__name__}"
