"""Small data sets in the published layouts."""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image

OBJECT = (
    "<object><name>{name}</name><difficult>{difficult}</difficult><bndbox><xmin>{0}</xmin>"
    "<ymin>{1}</ymin><xmax>{2}</xmax><ymax>{3}</ymax></bndbox></object>"
)


def image(path: Path, size=(40, 30)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (200, 30, 30)).save(path)


def xml(objects, size=(40, 30)) -> str:
    inside = "".join(
        OBJECT.format(*corners, name=name, difficult=int(difficult))
        for name, corners, difficult in objects
    )
    width, height = size
    head = f"<size><width>{width}</width><height>{height}</height></size>"
    return f"<annotation>{head}{inside}</annotation>"


def voc_folder(root: Path, lists: dict[str, dict[str, list]]) -> Path:
    """``lists``: by name the images, by stem their objects (name, corners, difficult)."""
    for name, images in lists.items():
        main = root / "ImageSets" / "Main"
        main.mkdir(parents=True, exist_ok=True)
        (main / f"{name}.txt").write_text("\n".join(images) + "\n")
        (root / "Annotations").mkdir(exist_ok=True)
        for stem, objects in images.items():
            image(root / "JPEGImages" / f"{stem}.jpg")
            (root / "Annotations" / f"{stem}.xml").write_text(xml(objects))
    return root


def coco_tree(**changes):
    tree = {
        "images": [
            {"id": 7, "file_name": "a.png", "width": 40, "height": 30},
            {"id": 9, "file_name": "b.png", "width": 40, "height": 30},
        ],
        "annotations": [
            {"id": 1, "image_id": 7, "category_id": 3, "bbox": [1, 2, 10, 12], "area": 77.5},
            {"id": 2, "image_id": 7, "category_id": 1, "bbox": [5, 5, 4, 4], "iscrowd": 1},
        ],
        "categories": [{"id": 3, "name": "dog"}, {"id": 1, "name": "cat"}],
    }
    return {**tree, **changes}


def coco_folder(root: Path, *, train=None, test=None) -> Path:
    (root / "annotations").mkdir(parents=True, exist_ok=True)
    for part, tree in (("train2017", train or coco_tree()), ("val2017", test or coco_tree())):
        (root / "annotations" / f"instances_{part}.json").write_text(json.dumps(tree))
        for one in tree["images"]:
            image(root / part / one["file_name"])
    return root
