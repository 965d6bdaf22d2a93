"""Omniglot: drawn characters of many alphabets, those of unseen alphabets to test on."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from rankwise.data.errors import DataError, parsing
from rankwise.data.images._listing import Listing, Part, by_halves, in_order
from rankwise.data.images.image_file import BrokenImage, decode

_SHAPE = (1, 105, 105)
_TEST = "images_evaluation"
_ARCHIVES = ("images_background", _TEST, "images_background_small1", "images_background_small2")


class _Drawing(NamedTuple):
    evaluated: bool  # whether it is in the archive to test on
    where: str  # the file, for a message
    name: str  # alphabet/character/drawing
    data: bytes


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
        if drawing.name.count("/") != 2:
            raise DataError(f"{drawing.where}: must be alphabet/character/drawing in its archive")
        character = drawing.name.rpartition("/")[0]
        if drawing.evaluated:
            evaluated.add(character)
        if drawing.name in seen:
            if seen[drawing.name] != drawing.data:
                raise DataError(f"{drawing.where}: is another drawing in another archive")
            continue
        seen[drawing.name] = drawing.data
        try:
            image = decode(drawing.data, drawing.where)[:1]
            if image.shape != _SHAPE:
                size = f"{image.shape[2]}×{image.shape[1]}"
                raise BrokenImage(drawing.where, f"is of {size} pixels, drawings are of 105×105")
            pixels.append(image)
        except BrokenImage as error:
            broken[len(labels)] = error
            pixels.append(torch.full(_SHAPE, 255, dtype=torch.uint8))
        labels.append(character)
    alphabets = {label: label.split("/")[0] for label in labels}
    parts: list[Part] = ["test" if label in evaluated else "train" for label in labels]
    if not evaluated:
        parts = by_halves([alphabets[label] for label in labels], in_order(alphabets.values()))
    held = torch.stack(pixels)
    return Listing("omniglot", labels, parts, pixels=held, families=alphabets, broken=broken)


def _drawings(root: Path) -> Iterator[_Drawing]:
    if not root.exists():
        raise DataError(f"{root}: there is no such folder")
    found = {name: [path for path in (root / f"{name}.zip", root / name) if path.exists()]
             for name in _ARCHIVES}  # fmt: skip
    if not any(found.values()):
        raise DataError(f"{root}: there is none of {', '.join(_ARCHIVES)} here, neither as .zip "
                        "nor as a folder")  # fmt: skip
    for name, places in found.items():
        for place in places[:1]:  # a zip goes before the folder it was unpacked to
            files = _unpacked(place) if place.is_dir() else _zipped(place)
            some = False
            for where, inside, data in files:
                some = True
                yield _Drawing(name == _TEST, where, inside, data)
            if not some:
                raise DataError(f"{place}: there are no drawings (.png) in it")


def _unpacked(folder: Path) -> Iterator[tuple[str, str, bytes]]:
    for path in sorted(folder.rglob("*.png")):
        yield str(path), path.relative_to(folder).as_posix(), path.read_bytes()


def _zipped(packed: Path) -> Iterator[tuple[str, str, bytes]]:
    with parsing(packed, "a zip"), zipfile.ZipFile(packed) as held:
        for name in sorted(held.namelist()):
            archive, _, inside = name.partition("/")
            if archive == packed.stem and inside.endswith(".png"):
                yield f"{packed}/{name}", inside, held.read(name)
