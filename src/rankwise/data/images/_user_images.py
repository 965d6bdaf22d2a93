"""Images of a user: one folder per class, or a csv with a path and a label a row."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from rankwise.data._text import read_rows, require_new
from rankwise.data.errors import DataError
from rankwise.data.images._listing import Listing, Part, Row, as_columns, in_order, single_file

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
    places: dict[Path, Part] = {root: "train"}
    remarks = []
    if _has_parts(inside):
        if others := [entry for name, entry in inside.items() if name not in PARTS]:
            raise DataError(
                f"{others[0]}: is beside train and test; only {', '.join(PARTS)} can be: "
                "move it elsewhere"
            )
        named = [name for name in PARTS if name in inside]
        places = {inside[name]: PARTS[name] for name in named}
        remarks.append(f"division: the folders {', '.join(named)}")
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
    name = root.name or root.resolve().name
    return Listing(name, *as_columns(rows), base=root, remarks=tuple(remarks))


def _has_parts(inside: dict[str, Path]) -> bool:
    """Whether the folders are parts; a class may well be called train, beside other classes."""
    if {"train", "test"} <= inside.keys():
        return True
    only = "train" in inside and inside.keys() <= PARTS.keys()
    return only and not _images(inside["train"])[0]


def _classes(place: Path, empty: list[Path], stray: list[Path]) -> list[tuple[str, Path]]:
    """Return class and file of every image of a part; other folders and files go to the lists."""
    images, others = _images(place)
    if images:
        raise DataError(
            f"{images[0]}: is in no class; {len(images)} images lie beside the folders of the "
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
    endings = {ending for ending, kind in known.items() if kind in Image.OPEN}
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
            raise DataError(f"{place}: split must be {', '.join(PARTS)}, got {split!r}")
        require_new(seen, path, place)
        rows.append((label, PARTS[split.lower()], file.parent / path))
        if "split" in given:
            said = (f"division: the column split of {file.name}",)
    if not rows:
        raise DataError(f"{file}: is empty: a header and no rows")
    return Listing(file.stem, *as_columns(rows), base=file.parent, remarks=said)
