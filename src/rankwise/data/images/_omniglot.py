"""Omniglot: drawn characters of many alphabets, those of unseen alphabets to test on."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import torch
from torch import Tensor

from rankwise.data.errors import DataError
from rankwise.data.images._listing import Listing, Part, by_halves, in_order
from rankwise.data.images.image_file import BrokenImage, decode

_SHAPE = (1, 105, 105)
_TEST = "images_evaluation"
_ARCHIVES = ("images_background", _TEST, "images_background_small1", "images_background_small2")


@dataclass(frozen=True)
class _Drawing:
    archive: str
    where: str  # the file, for a message
    name: str  # alphabet/character/drawing
    data: bytes

    @property
    def character(self) -> str:
        steps = self.name.split("/")
        if len(steps) != 3:
            raise DataError(f"{self.where}: must be alphabet/character/drawing in its archive")
        return "/".join(steps[:2])


def omniglot(root: Path) -> Listing:
    """Read the zips of Lake et al. 2015, or the folders they unpack to: alphabet/character/drawing.

    The alphabets of ``images_evaluation`` are to test on; where it is not there, the second half
    of the alphabets by name. A drawing that is in several archives counts once.
    """
    labels: list[str] = []
    pixels: list[Tensor] = []
    evaluated: set[str] = set()
    broken: dict[int, BrokenImage] = {}
    seen: dict[str, bytes] = {}
    for drawing in _drawings(root):
        if drawing.archive == _TEST:
            evaluated.add(drawing.character)
        if drawing.name in seen:
            if seen[drawing.name] != drawing.data:
                raise DataError(f"{drawing.where}: is another drawing in another archive")
            continue
        seen[drawing.name] = drawing.data
        try:
            pixels.append(_pixels(drawing))
        except BrokenImage as error:
            broken[len(labels)] = error
            pixels.append(torch.full(_SHAPE, 255, dtype=torch.uint8))
        labels.append(drawing.character)
    alphabets = {label: label.split("/")[0] for label in labels}
    if evaluated:
        parts: list[Part] = ["test" if label in evaluated else "train" for label in labels]
    else:
        order = in_order(alphabets.values())
        parts = by_halves([alphabets[label] for label in labels], order)
    held = torch.stack(pixels)
    return Listing("omniglot", labels, parts, pixels=held, families=alphabets, broken=broken)


def _pixels(drawing: _Drawing) -> Tensor:
    image = decode(drawing.data, drawing.where)[:1]
    if image.shape != _SHAPE:
        height, width = image.shape[1:]
        raise BrokenImage(drawing.where, f"is of {width}×{height} pixels, drawings are of 105×105")
    return image


def _drawings(root: Path) -> Iterator[_Drawing]:
    if not root.exists():
        raise DataError(f"{root}: there is no such folder")
    archives = 0
    for name in _ARCHIVES:
        packed, unpacked = root / f"{name}.zip", root / name
        if not packed.exists() and not unpacked.is_dir():
            continue
        archives += 1
        found = 0
        for drawing in _zipped(packed, name) if packed.exists() else _unpacked(unpacked, name):
            found += 1
            yield drawing
        if not found:
            where = packed if packed.exists() else unpacked
            raise DataError(f"{where}: there are no drawings (.png) in it")
    if not archives:
        raise DataError(f"{root}: there is none of {', '.join(_ARCHIVES)} here, neither as .zip "
                        "nor as a folder")  # fmt: skip


def _unpacked(folder: Path, archive: str) -> Iterator[_Drawing]:
    for path in sorted(folder.rglob("*.png")):
        yield _Drawing(archive, str(path), path.relative_to(folder).as_posix(), path.read_bytes())


def _zipped(packed: Path, archive: str) -> Iterator[_Drawing]:
    try:
        with zipfile.ZipFile(packed) as held:
            for name in sorted(held.namelist()):
                inside = PurePosixPath(name)
                if inside.suffix == ".png" and inside.parts[0] == archive:
                    inner = "/".join(inside.parts[1:])
                    yield _Drawing(archive, f"{packed}/{name}", inner, held.read(name))
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataError(f"{packed}: cannot be read as a zip: {error}") from error
