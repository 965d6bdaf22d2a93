"""Images of a data set before they are split, recorded splits, and the text files of lists."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from torch import Tensor

from rankwise.data.errors import DataError
from rankwise.data.images.image_file import BrokenImage

Part = Literal["train", "validation", "test"]


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


def record_of(listing: Listing, parts: Sequence[Part], kept: Iterable[int]) -> tuple[Recorded, ...]:
    """Return the parts of the images ``kept``, in order; nothing for a published data set."""
    if listing.base is None or listing.paths is None:
        return ()
    names = _relative(listing)
    return tuple(Recorded(names[i], listing.labels[i], parts[i]) for i in kept)


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


_WIDE = 80  # characters of a line that a message shows


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


def read_fields(
    path: Path, fields: int, layout: str, *, header: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line; empty lines are skipped.

    ``layout`` is how a line should look, for the message. The last field may have blanks in it.
    With ``header`` the first line must be ``layout`` itself.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as text: {error}") from error
    if header and (not lines or lines[0].split() != layout.split()):
        first = lines[0].strip()[:_WIDE] if lines else ""
        raise DataError(f"{path}: line 1: the header must be {layout!r}, got {first!r}")
    some = False
    for number, line in enumerate(lines[header:], start=1 + header):
        if not line.strip():
            continue
        found = line.split(maxsplit=fields - 1)
        if len(found) != fields:
            raise DataError(
                f"{path}: line {number}: {len(found)} fields where {fields} belong: "
                f"{line.strip()[:_WIDE]!r}; a line is {layout!r}"
            )
        some = True
        yield number, [text.strip() for text in found]
    if not some:
        raise DataError(f"{path}: is empty; a line is {layout!r}")


def require_unseen(labels: Iterable[str], parts: Iterable[Part], where: str) -> None:
    """Raise where classes to test on are trained on: the published splits have none."""
    pairs = set(zip(labels, parts, strict=True))
    seen = sorted(label for label, part in pairs if part == "test" and (label, "train") in pairs)
    if seen:
        raise DataError(
            f"{where}: {len(seen)} classes are both to train on and to test on, the first is "
            f"{seen[0]!r}; the published files have no such class"
        )


class Once:
    """Sees to it that nothing is listed twice, in one file or in two."""

    def __init__(self) -> None:
        self._place: dict[str, str] = {}

    def __call__(self, name: str, file: Path, line: int) -> None:
        place = f"{file}: line {line}"
        before = self._place.setdefault(name, place)
        if before != place:
            raise DataError(f"{place}: {name!r} is listed already, in {before}")
