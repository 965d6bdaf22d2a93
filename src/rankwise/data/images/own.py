"""Any images: one folder per class, or a csv with a path and a label a row."""

from __future__ import annotations

import csv
from pathlib import Path

from PIL import Image

from rankwise.data.errors import DataError
from rankwise.data.images.lines import Once
from rankwise.data.images.listing import Listing, Part, by_halves, in_order

__all__ = ["comma_separated", "folder"]

_PARTS: dict[str, Part] = {
    "train": "train",
    "validation": "validation",
    "val": "validation",
    "test": "test",
}


def folder(root: Path) -> Listing:
    """``root/class/image``, or ``root/train/class/image`` with ``test`` and maybe ``validation``.

    Without a folder ``test`` the second half of the classes, by name, is to test on. Hidden files
    and files that no picture is called like are passed over.
    """
    if not root.is_dir():
        raise DataError(f"{root}: there is no such folder")
    inside = {entry.name.lower(): entry for entry in _folders(root)}
    if "train" not in inside or "test" not in inside:
        labels, paths = _classes(root)
        return Listing(root.name, labels, by_halves(labels, in_order(labels)), paths)
    all_labels: list[str] = []
    parts: list[Part] = []
    all_paths: list[Path] = []
    for name, entry in inside.items():
        if name not in _PARTS:
            raise DataError(f"{entry}: is beside train and test; only {', '.join(_PARTS)} can be")
        labels, paths = _classes(entry)
        all_labels += labels
        all_paths += paths
        parts += [_PARTS[name]] * len(paths)
    return Listing(root.name, all_labels, parts, all_paths)


def comma_separated(root: Path) -> Listing:
    """Columns ``path`` and ``label``, maybe ``split``; paths are seen from the file's folder.

    ``split`` is train, validation (val) or test; without it the second half of the classes, by
    name, is to test on.
    """
    file = _the_csv(root)
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
    if "split" not in names:
        parts = by_halves(labels, in_order(labels))
    return Listing(file.stem, labels, parts, paths)


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
    if has_split and split.lower() not in _PARTS:
        raise DataError(f"{where}: split must be {', '.join(_PARTS)}, got {split!r}")
    return label, path, _PARTS[split.lower()] if has_split else "train"


def _the_csv(root: Path) -> Path:
    if not root.exists():
        raise DataError(f"{root}: there is no such file")
    if root.is_file():
        return root
    found = sorted(root.glob("*.csv"))
    if len(found) != 1:
        what = ", ".join(path.name for path in found) or "none"
        raise DataError(f"{root}: a folder must hold exactly one .csv file, got {what}")
    return found[0]


def _folders(root: Path) -> list[Path]:
    return [entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith(".")]


def _classes(root: Path) -> tuple[list[str], list[Path]]:
    labels: list[str] = []
    paths: list[Path] = []
    if stray := _pictures(root):
        raise DataError(f"{stray[0]}: is in no class; {len(stray)} images lie beside the folders "
                        "of the classes")  # fmt: skip
    by_name = {entry.name: entry for entry in _folders(root)}
    for name in in_order(by_name):
        found = _pictures(by_name[name])
        if not found:
            raise DataError(f"{by_name[name]}: a folder of a class must hold images, and has none")
        labels += [name] * len(found)
        paths += found
    if not labels:
        raise DataError(f"{root}: there are no folders of classes here")
    return labels, paths


def _pictures(root: Path) -> list[Path]:
    endings = Image.registered_extensions()
    names = in_order(
        entry.name
        for entry in root.iterdir()
        if entry.suffix.lower() in endings and not entry.name.startswith(".")
    )
    return [root / name for name in names if not (root / name).is_dir()]
