"""Annotations of COCO (json) and Pascal VOC (xml), as the files have them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeAlias
from xml.etree import ElementTree

from pydantic import AfterValidator, BaseModel, Field, FiniteFloat, Strict, ValidationError

from rankwise.data._text import WIDE, as_number
from rankwise.data.errors import DataError, parsing
from rankwise.errors import reason_of, short_repr

_NAMED = 10  # ids of a message
Id: TypeAlias = int | str


class RawBox(NamedTuple):
    """One object: x1 y1 x2 y2, the name of its class, and the rest of its record."""

    corners: tuple[float, float, float, float]
    label: str
    ignored: bool = False
    area: float | None = None


class AnnotatedImage(NamedTuple):
    """One image; ``size`` is what the annotation says, None where it says nothing."""

    path: Path
    size: tuple[int, int] | None
    boxes: list[RawBox]


class ImageList(NamedTuple):
    """One part of a data set, by its name."""

    name: str
    images: list[AnnotatedImage]
    classes: tuple[str, ...] | None = None  # None: those that occur


def _whole(value: float) -> int:
    """Return a number of pixels, which some files write as 640.0."""
    if not value.is_integer():
        raise ValueError("must be a whole number")
    return int(value)


_Number = Annotated[FiniteFloat, Strict()]  # "1_0" and true are none
_Pixels = Annotated[_Number, AfterValidator(_whole)]
_Id = Annotated[int, Strict()] | Annotated[str, Strict()]


class _Category(BaseModel):
    id: _Id
    name: str = Field(min_length=1)


class _Image(BaseModel):
    id: _Id
    file_name: str
    width: _Pixels | None = None
    height: _Pixels | None = None


class _Annotation(BaseModel):
    image_id: _Id
    category_id: _Id
    bbox: tuple[_Number, _Number, _Number, _Number]
    area: _Number | None = None
    iscrowd: Annotated[bool, Strict()] | Literal[0, 1] = False


class _Coco(BaseModel):
    images: list[_Image]
    annotations: list[_Annotation]
    categories: list[_Category]


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
    ordered = sorted(tree.categories, key=lambda one: (isinstance(one.id, str), one.id))
    names = {one.id: one.name for one in ordered}
    if len(names) < len(ordered):
        twice = next(a.id for a, b in pairwise(ordered) if a.id == b.id)
        raise DataError(f"{file}: there are two categories of id {short_repr(twice)}")
    if len(set(names.values())) < len(names):
        raise DataError(f"{file}: two categories have the same name")
    nameless = {one.category_id for one in tree.annotations} - names.keys()
    if nameless:
        shown = ", ".join(map(short_repr, sorted(nameless, key=str)[:_NAMED]))
        raise DataError(f"{file}: {len(nameless)} class ids have no name in categories: {shown}")
    boxes: dict[Id, list[RawBox]] = defaultdict(list)
    for box in tree.annotations:
        x, y, width, height = box.bbox
        corners = (x, y, x + width, y + height)
        crowd = bool(box.iscrowd)
        boxes[box.image_id].append(RawBox(corners, names[box.category_id], crowd, box.area))
    known: dict[Id, AnnotatedImage] = {}
    for one in tree.images:
        if one.id in known:
            raise DataError(f"{file}: there are two images of id {short_repr(one.id)}")
        paths = [folder / one.file_name for folder in folders]
        path = next((path for path in paths if path.is_file()), paths[0])
        size = (int(one.width), int(one.height)) if one.width and one.height else None
        if size is not None and min(size) < 0:
            raise DataError(f"{file}: the image {short_repr(one.id)} has the size {size}")
        known[one.id] = AnnotatedImage(path, size, boxes.pop(one.id, []))
    if boxes:
        shown = ", ".join(map(short_repr, sorted(boxes, key=str)[:_NAMED]))
        raise DataError(f"{file}: annotations are of {len(boxes)} images it does not have: {shown}")
    return ImageList(name, list(known.values()), tuple(names.values()))


def _read(file: Path) -> _Coco:
    with parsing(file, "json"):
        content = file.read_bytes()
    try:
        return _Coco.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"{step}: " for step in first["loc"])
        given = first["input"]
        cut = given[:WIDE] if isinstance(given, (str, bytes)) else given
        raise DataError(
            f"{file}: is not a json of COCO: {place}{first['msg']}, got "
            f"{str(cut)[:WIDE]!r}; write images, annotations and categories as COCO has "
            "them"
        ) from None


_WITHIN = ("", "VOC*", "VOCdevkit/VOC*", "*")  # where the folders may be, below the root


def voc(root: Path, name: str) -> ImageList:
    """Read the images of a list: ``trainval``, or ``VOC2007/trainval`` below a folder of years."""
    within, _, part = name.rpartition("/")
    folder = _voc_folder(root / within)
    file = folder / "ImageSets" / "Main" / f"{part}.txt"
    if not file.is_file():
        known = sorted(path.stem for path in file.parent.glob("*.txt") if "_" not in path.stem)
        raise DataError(f"{file}: there is no such list; there are {', '.join(known) or 'none'}")
    with parsing(file, "text"):
        # Lists of one class have a second word, whether the image has it.
        lines = file.read_text(encoding="utf-8-sig").splitlines()
        stems = [line.split()[0] for line in lines if line.strip()]
    for stem in stems:
        if ".." in Path(stem).parts or Path(stem).is_absolute():
            raise DataError(
                f"{file}: {short_repr(stem)} leads out of the folder; name images of the folder"
            )
    twice = len(stems) - len(set(stems))
    if twice:
        again = next(stem for stem, count in Counter(stems).items() if count > 1)
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
    raise DataError(
        f"{root}: there is no folder Annotations here; "
        "a data set in the layout of Pascal VOC has one"
    )


def _image(folder: Path, stem: str) -> AnnotatedImage:
    file = folder / "Annotations" / f"{stem}.xml"
    try:
        tree = ElementTree.parse(file).getroot()
    except FileNotFoundError:
        raise DataError(f"{file}: there is no such file, though a list names it") from None
    except Exception as error:  # an unknown encoding is a LookupError, and expat has its own
        raise DataError(f"{file}: is not xml: {reason_of(error)}") from error
    if tree.tag != "annotation":  # else it would be an image without objects
        raise DataError(f"{file}: the root must be <annotation>, got <{tree.tag[:WIDE]}>")
    # By the name in the list: annotations that were copied carry the file name of another.
    paths = [folder / "JPEGImages" / f"{stem}{ending}" for ending in (".jpg", ".png", ".jpeg")]
    path = next((path for path in paths if path.is_file()), paths[0])
    size = tree.find("size")
    sides = [0, 0]
    if size is not None:
        sides = [int(_number(file, size, name)) for name in ("width", "height")]
    boxes = [_voc_box(file, one) for one in tree.findall("object")]
    return AnnotatedImage(path, (sides[0], sides[1]) if min(sides) > 0 else None, boxes)


def _voc_box(file: Path, one: ElementTree.Element) -> RawBox:
    label = (one.findtext("name") or "").strip()
    if not label:
        raise DataError(f"{file}: an object has no name")
    corners = one.find("bndbox")
    if corners is None:
        raise DataError(f"{file}: {label} has no bndbox")
    x1, y1, x2, y2 = (_number(file, corners, n) for n in ("xmin", "ymin", "xmax", "ymax"))
    if x2 > x1 and y2 > y1:
        x1, y1 = x1 - 1, y1 - 1  # pixels are counted from 1, and the last belongs to the box
    difficult = (one.findtext("difficult") or "0").strip() == "1"
    return RawBox((x1, y1, x2, y2), label, difficult)


def _number(file: Path, tree: ElementTree.Element, name: str) -> float:
    text = tree.findtext(name)
    try:
        value = as_number(text or "")
    except ValueError:
        raise DataError(f"{file}: {name} must be a number, got {short_repr(text)}") from None
    if not math.isfinite(value):
        raise DataError(f"{file}: {name} must be finite, got {short_repr(text)}")
    return value
