"""Images of a data set before they are split, and recorded splits."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from torch import Tensor

from rankwise.data.errors import DataError
from rankwise.data.images.image_file import BrokenImage

Part = Literal["train", "validation", "test"]
_NAMED = 5  # classes in one remark
Row = tuple[str, Part, Path]  # class, part and file of an image


class Recorded(NamedTuple):
    """The part of an image in a split that a run recorded.

    Args:
        path: File, relative to the folder of the data.
        label: Name of the class.
        part: ``"train"``, ``"validation"`` or ``"test"``.

    Example:
        >>> from rankwise.data.images import Recorded
        >>> Recorded("cat/1.png", "cat", "test").part
        'test'
    """

    path: str
    label: str
    part: Part


@dataclass(frozen=True, eq=False)
class Listing:
    """Images of a data set as a reader lists them; ``"train"`` is everything not yet split.

    Where no image is ``"test"``, the data set leaves the division to the settings.
    """

    name: str
    labels: Sequence[str]  # the class of every image
    parts: Sequence[Part]  # of every image
    paths: Sequence[Path] | None = None
    pixels: Tensor | None = None
    families: Mapping[str, str] = field(default_factory=dict)  # the super-class of a class
    lists: Mapping[str, Sequence[int]] = field(default_factory=dict)  # test images by gallery
    broken: Mapping[int, BrokenImage] = field(default_factory=dict)  # images found so on reading
    base: Path | None = None  # what recorded paths are relative to; None: nothing is recorded
    remarks: Sequence[str] = ()  # for the user: skipped files, and where parts come from
    final: bool = False  # the division is a recorded one: nothing is left to draw


def as_columns(rows: Iterable[Row]) -> tuple[Sequence[str], Sequence[Part], Sequence[Path]]:
    """Return the classes, the parts and the files of some images."""
    labels, parts, paths = zip(*rows, strict=True)
    return labels, parts, paths


def by_halves(labels: Iterable[str], order: Sequence[str]) -> list[Part]:
    """Return the parts of the usual protocol: the first half of the classes is to train on."""
    first = frozenset(order[: len(order) // 2])
    return ["train" if label in first else "test" for label in labels]


def in_order(names: Iterable[str]) -> list[str]:
    """Return every name once, sorted, with the numbers in them by value: ``c9`` before ``c10``."""
    return sorted(set(names), key=_natural)


def _natural(name: str) -> tuple[list[tuple[int, int, str]], str]:
    pieces = re.findall(r"\d+|\D+", name)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in pieces], name


def single_images(names: Iterable[str]) -> list[str]:
    """Return the remark on classes with one image, if there are any."""
    alone = list(names)
    shown = ", ".join(alone[:_NAMED]) + (", …" if len(alone) > _NAMED else "")
    what = "class has" if len(alone) == 1 else "classes have"
    said = f"{len(alone)} {what} a single image, which is trained on and never tested: {shown}"
    return [said] if alone else []


def record_of(listing: Listing, parts: Mapping[int, Part]) -> tuple[Recorded, ...]:
    """Return the parts of some images by row, in order; nothing for a published data set."""
    if listing.base is None or listing.paths is None:
        return ()
    names = _relative(listing)
    return tuple(Recorded(names[i], listing.labels[i], parts[i]) for i in sorted(parts))


def as_recorded(listing: Listing, record: Sequence[Recorded]) -> Listing:
    """Return the images of a record, in its order and its parts, as they are found now.

    Images that are not in the record are left out with a remark; recorded images that are gone
    stay in the listing, so that whoever opens their files reports them.
    """
    base = listing.base
    if base is None:
        raise DataError(f"{listing.name}: a published data set has no recorded division")
    names = _relative(listing)
    known = {one.path for one in record}
    if known.isdisjoint(names):
        raise DataError(
            f"{base}: has none of the {len(record)} images of the recorded division, such as "
            f"{record[0].path}; give the folder that the run was trained on, wherever it is now"
        )
    added = len(names) - len(known.intersection(names))
    remarks = [one for one in listing.remarks if not one.startswith("division")]
    remarks.append(f"division: as recorded by the run, {len(record)} images")
    if added:
        what = "image is" if added == 1 else "images are"
        remarks.append(f"{added} {what} not in the recorded division, and left out")
    return replace(
        listing,
        labels=[one.label for one in record],
        parts=[one.part for one in record],
        paths=[base / one.path for one in record],
        broken={},
        remarks=tuple(remarks),
        final=True,
    )


def _relative(listing: Listing) -> list[str]:
    assert listing.base is not None
    return [Path(os.path.relpath(path, listing.base)).as_posix() for path in listing.paths or ()]


def located(root: Path, usual: str, *markers: str) -> Path:
    """Return the folder that holds one of ``markers``: ``root``, or the folder ``usual`` in it."""
    if not root.exists():
        raise DataError(f"{root}: there is no such folder")
    for folder in (root, root / usual):
        if any((folder / marker).exists() for marker in markers):
            return folder
    raise DataError(
        f"{root}: there is no {' or '.join(markers)} here nor in {usual}; "
        f"give the folder that the archive of the data set was unpacked to"
    )


def single_file(root: Path, suffix: str) -> Path:
    """Return ``root`` where it is a file, else the only file with this suffix in the folder."""
    if not root.exists():
        raise DataError(f"{root}: there is no such file or folder")
    if root.is_file():
        return root
    files = sorted(root.glob(f"*{suffix}"))
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise DataError(f"{root}: a folder must hold exactly one {suffix} file, got {names}")
    return files[0]


def require_unseen(
    names: Iterable[str], parts: Iterable[Part], where: str, what: str = "classes"
) -> None:
    """Raise where classes to test on are trained on: the published splits have none."""
    pairs = set(zip(names, parts, strict=True))
    seen = sorted(name for name, part in pairs if part == "test" and (name, "train") in pairs)
    if seen:
        raise DataError(
            f"{where}: {len(seen)} {what} are both to train on and to test on, the first is "
            f"{seen[0]!r}; the published files have no such {what}"
        )
