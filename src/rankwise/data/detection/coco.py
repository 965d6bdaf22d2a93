"""COCO: one json for each part, with images, annotations and categories."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

from rankwise.data.detection.listing import Listed, Picture, RawBox
from rankwise.data.errors import DataError

__all__ = ["coco"]

_NAMED = 10


def coco(root: Path, name: str) -> Listed:
    """``annotations/instances_NAME.json`` with the pictures in ``NAME``; or a json by its path.

    Pictures of a json that is named itself are looked for beside it.
    """
    if name.endswith(".json"):
        file = root / name
        folders = [file.parent, root, root / "images"]
    else:
        file = root / "annotations" / f"instances_{name}.json"
        folders = [root / name, root / "images" / name, root / "images", root]
    tree = _read(file)
    names = _categories(file, tree["categories"])
    boxes: dict[Any, list[RawBox]] = defaultdict(list)
    nameless: set[Any] = set()
    for one in tree["annotations"]:
        category = _has(file, one, "an annotation", "category_id")
        if category not in names:
            nameless.add(category)
            continue
        box = _box(file, one, names[category])
        boxes[_has(file, one, "an annotation", "image_id")].append(box)
    if nameless:
        shown = ", ".join(map(str, sorted(nameless, key=str)[:_NAMED]))
        raise DataError(f"{file}: {len(nameless)} class ids have no name in categories: {shown}")
    known: dict[Any, Picture] = {}
    for one in tree["images"]:
        key = _has(file, one, "an image", "id")
        if key in known:
            raise DataError(f"{file}: there are two images of id {key!r}")
        path = _located(folders, str(_has(file, one, "an image", "file_name")))
        width, height = one.get("width"), one.get("height")
        size = (int(width), int(height)) if width and height else None
        known[key] = Picture(path, size, boxes.pop(key, []))
    if boxes:
        shown = ", ".join(map(str, sorted(boxes, key=str)[:_NAMED]))
        raise DataError(f"{file}: annotations are of {len(boxes)} images it does not have: {shown}")
    return Listed(name, list(known.values()), tuple(names.values()))


def _read(file: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        tree = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise DataError(f"{file}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: is not json: {error}") from None
    for part in ("images", "annotations", "categories"):
        rows = tree.get(part) if isinstance(tree, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise DataError(f"{file}: must have a list of records {part!r}, as COCO's files have")
    return tree  # type: ignore[no-any-return]


def _categories(file: Path, rows: list[dict[str, Any]]) -> dict[Any, str]:
    """Names by id, in the order of the ids."""
    found = {_has(file, row, "a category", "id"): str(row.get("name") or "") for row in rows}
    bare = [str(key) for key, name in found.items() if not name]
    if bare:
        raise DataError(f"{file}: categories have no name: {', '.join(bare[:_NAMED])}")
    if len(set(found.values())) < len(found):
        raise DataError(f"{file}: two categories have the same name")
    return {key: found[key] for key in sorted(found)}


def _box(file: Path, one: dict[str, Any], label: str) -> RawBox:
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


def _has(file: Path, row: dict[str, Any], what: str, name: str) -> Any:
    if name not in row:
        raise DataError(f"{file}: {what} has no {name}")
    return row[name]


def _located(folders: list[Path], name: str) -> Path:
    return next((f / name for f in folders if (f / name).is_file()), folders[0] / name)
