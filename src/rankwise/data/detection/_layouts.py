"""Annotations of COCO (json) and Pascal VOC (xml), as the files have them."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rankwise.data.errors import DataError

_NAMED = 10  # ids of a message
Row = dict[str, Any]  # a record of a json file


@dataclass(frozen=True)
class RawBox:
    """One object: x1 y1 x2 y2, the name of its class, and the rest of its record."""

    corners: tuple[float, float, float, float]
    label: str
    ignored: bool = False
    area: float | None = None


@dataclass(frozen=True)
class AnnotatedImage:
    """One image; ``size`` is what the annotation says, None where it says nothing."""

    path: Path
    size: tuple[int, int] | None
    boxes: list[RawBox]


@dataclass(frozen=True)
class ImageList:
    """One part of a data set, by its name."""

    name: str
    images: list[AnnotatedImage]
    classes: tuple[str, ...] | None = None  # None: those that occur


def coco(root: Path, name: str) -> ImageList:
    """Read ``annotations/instances_NAME.json`` and the images in ``NAME``, or a json by its path.

    Images of a json that is named itself are looked for in its folder.
    """
    if name.endswith(".json"):
        file = root / name
        folders = [file.parent, root, root / "images"]
    else:
        file = root / "annotations" / f"instances_{name}.json"
        folders = [root / name, root / "images" / name, root / "images", root]
    tree = _read(file)
    names = _categories(file, tree["categories"])
    boxes: dict[object, list[RawBox]] = defaultdict(list)
    nameless: set[object] = set()
    for one in tree["annotations"]:
        category = _has(file, one, "an annotation", "category_id")
        if category not in names:
            nameless.add(category)
            continue
        box = _coco_box(file, one, names[category])
        boxes[_has(file, one, "an annotation", "image_id")].append(box)
    if nameless:
        shown = ", ".join(map(str, sorted(nameless, key=str)[:_NAMED]))
        raise DataError(f"{file}: {len(nameless)} class ids have no name in categories: {shown}")
    known: dict[object, AnnotatedImage] = {}
    for one in tree["images"]:
        key = _has(file, one, "an image", "id")
        if key in known:
            raise DataError(f"{file}: there are two images of id {key!r}")
        path = _coco_path(folders, str(_has(file, one, "an image", "file_name")))
        width, height = one.get("width"), one.get("height")
        size = (int(width), int(height)) if width and height else None
        known[key] = AnnotatedImage(path, size, boxes.pop(key, []))
    if boxes:
        shown = ", ".join(map(str, sorted(boxes, key=str)[:_NAMED]))
        raise DataError(f"{file}: annotations are of {len(boxes)} images it does not have: {shown}")
    return ImageList(name, list(known.values()), tuple(names.values()))


def _read(file: Path) -> dict[str, list[Row]]:
    try:
        tree = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise DataError(f"{file}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: is not json: {error}") from None
    found: dict[str, list[Row]] = {}
    for part in ("images", "annotations", "categories"):
        rows = tree.get(part) if isinstance(tree, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise DataError(f"{file}: must have a list of records {part!r}, as COCO's files have")
        found[part] = rows
    return found


def _categories(file: Path, rows: list[Row]) -> dict[object, str]:
    """Return the names by id, in the order of the ids."""
    found = {_has(file, row, "a category", "id"): str(row.get("name") or "") for row in rows}
    bare = [str(key) for key, name in found.items() if not name]
    if bare:
        raise DataError(f"{file}: categories have no name: {', '.join(bare[:_NAMED])}")
    if len(set(found.values())) < len(found):
        raise DataError(f"{file}: two categories have the same name")
    return {key: found[key] for key in sorted(found)}


def _coco_box(file: Path, one: Row, label: str) -> RawBox:
    where = f"annotation {one.get('id', '?')}"
    given = _has(file, one, where, "bbox")
    try:
        x, y, width, height = (float(value) for value in given)
    except (TypeError, ValueError):
        raise DataError(
            f"{file}: {where}: bbox must be x, y, width, height, got {given!r}"
        ) from None
    if not all(map(math.isfinite, (x, y, width, height))):
        raise DataError(f"{file}: {where}: bbox must be finite, got {given!r}")
    area = one.get("area")
    return RawBox(
        (x, y, x + width, y + height),
        label,
        bool(one.get("iscrowd", 0)),
        None if area is None else float(area),
    )


def _has(file: Path, row: Row, what: str, name: str) -> Any:
    if name not in row:
        raise DataError(f"{file}: {what} has no {name}")
    return row[name]


def _coco_path(folders: list[Path], name: str) -> Path:
    return next((f / name for f in folders if (f / name).is_file()), folders[0] / name)


_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_WITHIN = ("", "VOC*", "VOCdevkit/VOC*", "*")  # where the folders may be, below the root


def voc(root: Path, name: str) -> ImageList:
    """Read the images of a list: ``trainval``, or ``VOC2007/trainval`` below a folder of years."""
    within, _, part = name.rpartition("/")
    folder = _voc_folder(root / within)
    file = folder / "ImageSets" / "Main" / f"{part}.txt"
    if not file.is_file():
        known = sorted(path.stem for path in file.parent.glob("*.txt") if "_" not in path.stem)
        raise DataError(f"{file}: there is no such list; there are {', '.join(known) or 'none'}")
    try:
        # Lists of one class have a second word, whether the image has it.
        stems = [line.split()[0] for line in file.read_text().splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise DataError(f"{file}: cannot be read: {error}") from error
    twice = len(stems) - len(set(stems))
    if twice:
        again = next(stem for i, stem in enumerate(stems) if stem in stems[:i])
        raise DataError(f"{file}: {twice} images are named twice, {again} the first of them")
    return ImageList(name, [_image(folder, stem) for stem in stems])


def _voc_folder(root: Path) -> Path:
    if not root.is_dir():
        raise DataError(f"{root}: there is no such folder")
    for pattern in _WITHIN:
        found = [root] if not pattern else sorted(root.glob(pattern))
        good = [path for path in found if (path / "Annotations").is_dir()]
        if len(good) == 1:
            return good[0]
        if good:
            names = ", ".join(path.name for path in good)
            raise DataError(
                f"{root}: holds several sets ({names}); say which in the names of the lists, "
                f"such as {good[0].name}/trainval"
            )
    raise DataError(f"{root}: there is no folder Annotations here, as Pascal VOC has it")


def _image(folder: Path, stem: str) -> AnnotatedImage:
    file = folder / "Annotations" / f"{stem}.xml"
    try:
        tree = ElementTree.parse(file).getroot()
    except FileNotFoundError:
        raise DataError(f"{file}: there is no such file, though a list names it") from None
    except (ElementTree.ParseError, OSError, UnicodeError) as error:
        raise DataError(f"{file}: is not xml: {error}") from None
    # By the name in the list: annotations that were copied carry the file name of another.
    paths = [folder / "JPEGImages" / f"{stem}{ending}" for ending in (".jpg", ".png", ".jpeg")]
    path = next((path for path in paths if path.is_file()), paths[0])
    return AnnotatedImage(
        path, _size(file, tree), [_voc_box(file, one) for one in tree.findall("object")]
    )


def _size(file: Path, tree: ElementTree.Element) -> tuple[int, int] | None:
    found = tree.find("size")
    if found is None:
        return None
    width, height = (int(_number(file, found, name)) for name in ("width", "height"))
    return (width, height) if width > 0 and height > 0 else None


def _voc_box(file: Path, one: ElementTree.Element) -> RawBox:
    label = (one.findtext("name") or "").strip()
    if not label:
        raise DataError(f"{file}: an object has no name")
    corners = one.find("bndbox")
    if corners is None:
        raise DataError(f"{file}: {label} has no bndbox")
    x1, y1, x2, y2 = (_number(file, corners, name) for name in _CORNERS)
    if x2 > x1 and y2 > y1:
        x1, y1 = x1 - 1, y1 - 1  # pixels are counted from 1, and the last belongs to the box
    difficult = (one.findtext("difficult") or "0").strip() == "1"
    return RawBox((x1, y1, x2, y2), label, difficult)


def _number(file: Path, tree: ElementTree.Element, name: str) -> float:
    text = tree.findtext(name)
    try:
        value = float(text or "")
    except ValueError:
        raise DataError(f"{file}: {name} must be a number, got {text!r}") from None
    if not math.isfinite(value):
        raise DataError(f"{file}: {name} must be finite, got {text!r}")
    return value
