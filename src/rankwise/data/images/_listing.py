"""Images of a data set before they are split, and recorded splits."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from PIL import Image
from torch import Tensor

from rankwise.data._text import read_rows, require_new
from rankwise.data.errors import DataError
from rankwise.data.images.image_file import FORMATS, BrokenImage
from rankwise.errors import short_repr

Part = Literal["train", "validation", "test"]
_NAMED = 5  # names in one remark
_DIGITS = 1000  # of a number in a name; Python refuses some thousands
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

    Where no image is ``"test"``, the data set leaves the split to the settings.
    """

    name: str
    labels: Sequence[str]  # the class of every image
    parts: Sequence[Part]  # of every image
    paths: Sequence[Path] | None = None
    pixels: Tensor | None = None
    families: Mapping[str, str] = field(default_factory=dict)  # the super-class of a class
    # The same where the split does not go by them; graded relevances do.
    super_classes: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, Sequence[int]] = field(default_factory=dict)  # test images by gallery
    broken: Mapping[int, BrokenImage] = field(default_factory=dict)  # images found so on reading
    base: Path | None = None  # what recorded paths are relative to; None: nothing is recorded
    remarks: Sequence[str] = ()  # for the user: skipped files, and where parts come from
    final: bool = False  # the split is a recorded one: nothing is left to draw


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
    return [
        (0, int(p), "") if p.isdecimal() and len(p) <= _DIGITS else (1, 0, p) for p in pieces
    ], name


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
        raise DataError(f"{listing.name}: a published data set has no recorded split")
    names = _relative(listing)
    known = {one.path for one in record}
    if known.isdisjoint(names):
        raise DataError(
            f"{base}: has none of the {len(record)} images of the recorded split, such as "
            f"{record[0].path}; give the folder that the run was trained on, wherever it is now"
        )
    added = len(names) - len(known.intersection(names))
    remarks = [one for one in listing.remarks if not one.startswith("split")]
    remarks.append(f"split: as recorded by the run, {len(record)} images")
    if added:
        what = "image is" if added == 1 else "images are"
        remarks.append(f"{added} {what} not in the recorded split, and left out")
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
            f"{short_repr(seen[0])}; the published files have no such {what}"
        )


PARTS: dict[str, Part] = {
    "train": "train",
    "validation": "validation",
    "val": "validation",
    "test": "test",
}


def folder_listing(root: Path) -> Listing:
    """Read ``root/class/image``, or ``root/train/class/image`` with ``test`` and ``validation``.

    Hidden files are passed over; other files that are not images, and folders without images, are
    passed over with a remark.
    """
    if not root.is_dir():
        raise DataError(f"{root}: there is no such folder")
    inside = {entry.name.lower(): entry for entry in _folders(root)}
    places: dict[Path, Part] = {root: "train"}
    remarks = []
    # A class may be called train, next to other classes.
    split = {"train", "test"} <= inside.keys()
    only = "train" in inside and inside.keys() <= PARTS.keys()
    if split or (only and not _images(inside["train"])[0]):
        if others := [entry for name, entry in inside.items() if name not in PARTS]:
            raise DataError(
                f"{others[0]}: a folder next to train and test must be one of "
                f"{', '.join(PARTS)}: move it elsewhere"
            )
        named = [name for name in PARTS if name in inside]
        places = {inside[name]: PARTS[name] for name in named}
        remarks.append(f"split: the folders {', '.join(named)}")
    rows: list[Row] = []
    empty: list[Path] = []
    stray: list[Path] = []
    for place, part in places.items():
        rows += [(label, part, path) for label, path in _classes(place, empty, stray)]
    for paths, one, several, done in (
        (empty, "folder has no images and is", "folders have no images and are",
         "not read as a class"),
        (stray, "file is not an image and was", "files are not images and were", "passed over"),
    ):  # fmt: skip
        if paths:
            names = [path.relative_to(root).as_posix() for path in paths]
            shown = ", ".join(names[:_NAMED])
            more = f", … ({len(paths) - _NAMED} more)" if len(paths) > _NAMED else ""
            what = one if len(paths) == 1 else several
            remarks.append(f"{len(paths)} {what} {done}: {shown}{more}")
    _require_readable(path for _, _, path in rows)
    name = root.name or root.resolve().name
    return Listing(name, *as_columns(rows), base=root, remarks=tuple(remarks))


def _require_readable(paths: Iterable[Path]) -> None:
    """Raise where the bytes of a name are not text: it could not be written into any report."""
    for path in paths:
        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise DataError(
                f"{path}: its name is not text in the encoding of this system "
                f"({sys.getfilesystemencoding()}); set PYTHONUTF8=1, or rename it"
            ) from None


def _classes(place: Path, empty: list[Path], stray: list[Path]) -> list[tuple[str, Path]]:
    """Return class and file of every image of a part; other folders and files go to the lists."""
    images, others = _images(place)
    if images:
        raise DataError(
            f"{images[0]}: is in no class; {len(images)} images are outside the folders of the "
            "classes: move each into the folder of its class"
        )
    stray += others
    found: list[tuple[str, Path]] = []
    for name in in_order(entry.name for entry in _folders(place)):
        images, others = _images(place / name)
        stray += others
        if not images:
            empty.append(place / name)
            if deeper := [entry for entry in _folders(place / name) if _images(entry)[0]]:
                raise DataError(
                    f"{place / name}: holds no images itself, but {deeper[0].name} in it does; "
                    "data.root must be the folder that holds one folder of images for each class"
                )
        found += [(name, path) for path in images]
    if not found:
        raise DataError(
            f"{place}: there are no folders of classes here; it must hold one folder of "
            "images for each class"
        )
    return found


def _folders(root: Path) -> list[Path]:
    return [entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith(".")]


def _images(root: Path) -> tuple[list[Path], list[Path]]:
    """Return the files whose names end as those of readable images, and all others, in order."""
    known = Image.registered_extensions()
    endings = {ending for ending, kind in known.items() if kind in FORMATS}
    names = in_order(entry.name for entry in root.iterdir() if not entry.name.startswith("."))
    files = [root / name for name in names if not (root / name).is_dir()]
    images = [path for path in files if path.suffix.lower() in endings]
    return images, [path for path in files if path.suffix.lower() not in endings]


def csv_listing(root: Path) -> Listing:
    """Read columns ``path`` (relative to the file), ``label`` and maybe ``split``.

    ``split`` is train, validation (val) or test; without it the settings divide the images.
    """
    file = single_file(root, ".csv")
    rows: list[Row] = []
    seen: dict[str, str] = {}
    said: tuple[str, ...] = ()
    for place, row in read_rows(file, "path", "label"):
        if None in row or None in row.values():
            raise DataError(f"{place}: does not have as many fields as the header")
        given = {name: (value or "").strip() for name, value in row.items()}
        label, path, split = given["label"], given["path"], given.get("split", "train")
        if not label or not path:
            raise DataError(f"{place}: {'label' if path else 'path'} is empty")
        if split.lower() not in PARTS:
            raise DataError(f"{place}: split must be {', '.join(PARTS)}, got {short_repr(split)}")
        require_new(seen, path, place)
        rows.append((label, PARTS[split.lower()], file.parent / path))
        if "split" in given:
            said = (f"split: the column split of {file.name}",)
    if not rows:
        raise DataError(f"{file}: is empty: a header and no rows")
    return Listing(file.stem, *as_columns(rows), base=file.parent, remarks=said)
