"""Images of a user: one folder per class, or a csv with a path and a label a row."""

from __future__ import annotations

import csv
from pathlib import Path

from PIL import Image

from rankwise.data.errors import DataError
from rankwise.data.images._listing import Listing, Once, Part, in_order, single_file

PARTS: dict[str, Part] = {
    "train": "train",
    "validation": "validation",
    "val": "validation",
    "test": "test",
}
_NAMED = 5  # names in one remark


def folder_listing(root: Path) -> Listing:
    """Read ``root/class/image``, or ``root/train/class/image`` with ``test`` and ``validation``.

    Hidden files are passed over; other files that are not images, and folders without images, are
    passed over with a remark.
    """
    if not root.is_dir():
        raise DataError(f"{root}: there is no such folder")
    inside = {entry.name.lower(): entry for entry in _folders(root)}
    found = _Found(root)
    if not _has_parts(inside):
        found.read(root, "train")
        return found.listing()
    if others := [entry for name, entry in inside.items() if name not in PARTS]:
        raise DataError(
            f"{others[0]}: is beside train and test; only {', '.join(PARTS)} can be: "
            "move it elsewhere"
        )
    for name in (name for name in PARTS if name in inside):
        found.read(inside[name], PARTS[name])
    found.remarks.append(f"division: the folders {', '.join(n for n in PARTS if n in inside)}")
    return found.listing()


def _has_parts(inside: dict[str, Path]) -> bool:
    """Whether the folders are parts; a class may well be called train, beside other classes."""
    if {"train", "test"} <= inside.keys():
        return True
    only = "train" in inside and inside.keys() <= PARTS.keys()
    return only and not _images(inside["train"])[0]


class _Found:
    """Images, remarks and skipped files that have been read so far."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.labels: list[str] = []
        self.parts: list[Part] = []
        self.paths: list[Path] = []
        self.remarks: list[str] = []
        self.empty: list[Path] = []
        self.others: list[Path] = []

    def read(self, place: Path, part: Part) -> None:
        """Read the classes of a part."""
        stray, others = _images(place)
        if stray:
            raise DataError(
                f"{stray[0]}: is in no class; {len(stray)} images lie beside the folders of the "
                "classes: move each into the folder of its class"
            )
        self.others += others
        by_name = {entry.name: entry for entry in _folders(place)}
        before = len(self.labels)
        for name in in_order(by_name):
            images, others = _images(by_name[name])
            self.others += others
            if not images:
                _require_no_deeper(by_name[name])
                self.empty.append(by_name[name])
            self.labels += [name] * len(images)
            self.paths += images
        self.parts += [part] * (len(self.labels) - before)
        if len(self.labels) == before:
            raise DataError(
                f"{place}: there are no folders of classes here; it must hold one folder of "
                "images for each class"
            )

    def listing(self) -> Listing:
        """Return all images, with remarks on what was skipped."""
        for paths, one, several, done in (
            (self.empty, "folder has no images and is", "folders have no images and are",
             "not read as a class"),
            (self.others, "file is not an image and was", "files are not images and were",
             "passed over"),
        ):  # fmt: skip
            if paths:
                what = one if len(paths) == 1 else several
                self.remarks.append(f"{len(paths)} {what} {done}: {self._named(paths)}")
        return Listing(
            self.root.name or self.root.resolve().name,
            self.labels,
            self.parts,
            self.paths,
            base=self.root,
            remarks=tuple(self.remarks),
        )

    def _named(self, paths: list[Path]) -> str:
        shown = ", ".join(path.relative_to(self.root).as_posix() for path in paths[:_NAMED])
        return shown + (f", … ({len(paths) - _NAMED} more)" if len(paths) > _NAMED else "")


def _require_no_deeper(place: Path) -> None:
    """Raise where images lie one folder too deep: data.root was set one folder too high."""
    for entry in _folders(place):
        if _images(entry)[0]:
            raise DataError(
                f"{place}: holds no images itself, but {entry.name} in it does; data.root must be "
                "the folder that holds one folder of images for each class"
            )


def _folders(root: Path) -> list[Path]:
    return [entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith(".")]


def _images(root: Path) -> tuple[list[Path], list[Path]]:
    """Return the files whose names end as those of readable images, and all others, in order."""
    Image.init()
    endings = {
        ending for ending, kind in Image.registered_extensions().items() if kind in Image.OPEN
    }
    names = in_order(entry.name for entry in root.iterdir() if not entry.name.startswith("."))
    files = [root / name for name in names if not (root / name).is_dir()]
    images = [path for path in files if path.suffix.lower() in endings]
    return images, [path for path in files if path.suffix.lower() not in endings]


def csv_listing(root: Path) -> Listing:
    """Read columns ``path`` (relative to the file), ``label`` and maybe ``split``.

    ``split`` is train, validation (val) or test; without it the settings divide the images.
    """
    file = single_file(root, ".csv")
    once = Once()
    labels: list[str] = []
    parts: list[Part] = []
    paths: list[Path] = []
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            rows = csv.DictReader(text, strict=True)
            names = rows.fieldnames or []
            if missing := [name for name in ("path", "label") if name not in names]:
                raise DataError(f"{file}: line 1: there is no column {' and no '.join(missing)}; "
                                f"the columns are: {', '.join(names)}")  # fmt: skip
            for row in rows:
                label, path, split = _row(file, rows.line_num, row, "split" in names)
                once(path, file, rows.line_num)
                labels.append(label)
                paths.append(file.parent / path)
                parts.append(split)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{file}: cannot be read as csv: {error}") from error
    if not labels:
        raise DataError(f"{file}: is empty: a header and no rows")
    said = (f"division: the column split of {file.name}",) if "split" in names else ()
    return Listing(file.stem, labels, parts, paths, base=file.parent, remarks=said)


def _row(
    file: Path, line: int, row: dict[str | None, str | None], has_split: bool
) -> tuple[str, str, Part]:
    where = f"{file}: line {line}"
    if None in row or None in row.values():
        raise DataError(f"{where}: does not have as many fields as the header")
    given = {name: (value or "").strip() for name, value in row.items()}
    label, path, split = given["label"], given["path"], given.get("split", "train")
    if not label or not path:
        raise DataError(f"{where}: {'label' if path else 'path'} is empty")
    if has_split and split.lower() not in PARTS:
        raise DataError(f"{where}: split must be {', '.join(PARTS)}, got {split!r}")
    return label, path, PARTS[split.lower()] if has_split else "train"
