"""Pascal VOC: ``Annotations/*.xml`` beside ``JPEGImages``, parted by ``ImageSets/Main/*.txt``."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

from rankwise.data.detection.listing import Listed, Picture, RawBox
from rankwise.data.errors import DataError

__all__ = ["voc"]

_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_WITHIN = ("", "VOC*", "VOCdevkit/VOC*", "*")  # where the folders may be, below the root


def voc(root: Path, name: str) -> Listed:
    """The pictures of one list: ``trainval``, or ``VOC2007/trainval`` below a folder of years."""
    within, _, part = name.rpartition("/")
    folder = _located(root / within)
    file = folder / "ImageSets" / "Main" / f"{part}.txt"
    if not file.is_file():
        known = sorted(path.stem for path in file.parent.glob("*.txt") if "_" not in path.stem)
        raise DataError(f"{file}: there is no such list; there are {', '.join(known) or 'none'}")
    try:
        # Lists of one class have a second word, whether the picture has it.
        stems = [line.split()[0] for line in file.read_text().splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise DataError(f"{file}: cannot be read: {error}") from error
    twice = len(stems) - len(set(stems))
    if twice:
        again = next(stem for i, stem in enumerate(stems) if stem in stems[:i])
        raise DataError(f"{file}: {twice} pictures are named twice, {again} the first of them")
    return Listed(name, [_picture(folder, stem) for stem in stems])


def _located(root: Path) -> Path:
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


def _picture(folder: Path, stem: str) -> Picture:
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
    return Picture(path, _size(file, tree), [_box(file, one) for one in tree.findall("object")])


def _size(file: Path, tree: ElementTree.Element) -> tuple[int, int] | None:
    found = tree.find("size")
    if found is None:
        return None
    width, height = (int(_number(file, found, name)) for name in ("width", "height"))
    return (width, height) if width > 0 and height > 0 else None


def _box(file: Path, one: ElementTree.Element) -> RawBox:
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
