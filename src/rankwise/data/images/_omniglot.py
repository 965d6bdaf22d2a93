"""Omniglot: drawn characters of many alphabets, those of unseen alphabets to test on."""

from __future__ import annotations

import zipfile
from itertools import chain
from pathlib import Path

import torch
from torch import Tensor

from rankwise.data.errors import DataError, parsing
from rankwise.data.images._listing import Listing, Part, by_halves, in_order
from rankwise.data.images.image_file import BrokenImage, decode

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
        with parsing(place, "a zip"), zipfile.ZipFile(place) as held:
            found = [(f"{place}/{name}", name.removeprefix(inside), held.read(name))
                     for name in sorted(held.namelist())
                     if name.startswith(inside) and name.endswith(".png")]  # fmt: skip
    if not found:
        raise DataError(f"{place}: there are no drawings (.png) in it")
    return found
