"""Published layouts: SOP, VehicleID, iNaturalist 2018, CUB-200-2011, Cars-196, ChestX-ray14."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from rankwise.data._text import read_fields, read_rows, require_new
from rankwise.data.errors import DataError
from rankwise.data.images._class_split import ClassListing
from rankwise.data.images._listing import (
    Listing,
    Part,
    Row,
    as_columns,
    by_halves,
    in_order,
    located,
    require_unseen,
)
from rankwise.data.images._matlab import read_matlab
from rankwise.errors import short_repr

_GALLERIES = {"small": 800, "medium": 1600, "large": 2400}
_INAT_IMAGES = "train_val2018"


def sop(root: Path) -> Listing:
    """Read ``Ebay_train.txt`` and ``Ebay_test.txt`` (Song et al. 2016), next to the images."""
    folder = located(root, "Stanford_Online_Products", "Ebay_train.txt", "Ebay_test.txt")

    def image(_: str, fields: list[str]) -> tuple[str, str, Path]:
        return fields[1], fields[2], folder / fields[3]

    layout = "image_id class_id super_class_id path"
    return _two_lists("sop", folder, "Ebay_{}.txt", layout, image, header=True)


def inaturalist(root: Path) -> Listing:
    """Read ``Inaturalist_train_set1.txt`` and ``…_test_set1.txt`` (Brown et al. 2020).

    A line is a path ending in super-class/class/file, below ``root`` from ``train_val2018`` on.
    """
    lists, usual = "Inaturalist_{}_set1.txt", "Inat_dataset_splits"
    split = located(root, usual, lists.format("train"), lists.format("test"))
    folder = split.parent if split.name == usual else split
    layout = f"{_INAT_IMAGES}/super-class/class/file.jpg"

    def image(place: str, fields: list[str]) -> tuple[str, str, Path]:
        steps = fields[0].split("/")
        if len(steps) < 4 or _INAT_IMAGES not in steps[:-3]:
            raise DataError(f"{place}: {fields[0][:80]!r}; a line is {layout!r}")
        path = folder.joinpath(*steps[steps.index(_INAT_IMAGES) :])
        return "/".join(steps[-3:-1]), steps[-3], path

    return _two_lists("inaturalist", split, lists, layout, image)


def _two_lists(
    name: str,
    folder: Path,
    pattern: str,
    layout: str,
    image: Callable[[str, list[str]], tuple[str, str, Path]],
    *,
    header: bool = False,
) -> Listing:
    """Read a list of training and one of test images; ``image`` reads a line of them.

    It takes the place and the fields, and returns class, super-class and file.
    """
    rows: list[Row] = []
    families: dict[str, str] = {}
    seen: dict[str, str] = {}
    parts: tuple[Part, ...] = ("train", "test")
    files = [folder / pattern.format(part) for part in parts]
    for part, file in zip(parts, files, strict=True):
        for place, fields in read_fields(file, layout, header=header):
            require_new(seen, fields[-1], place)
            label, family, path = image(place, fields)
            if families.setdefault(label, family) != family:
                raise DataError(
                    f"{place}: class {label} is of super-class {family} here and of "
                    f"{families[label]} before"
                )
            rows.append((label, part, path))
    listing = Listing(name, *as_columns(rows), families=families)
    require_unseen(listing.labels, listing.parts, " and ".join(map(str, files)))
    return listing


def vehicleid(root: Path) -> Listing:
    """Read ``train_test_split/train_list.txt`` and the test lists of 800, 1 600 and 2 400 vehicles.

    (Liu et al. 2016.) A line is an image number and a vehicle; the file is ``image/<number>.jpg``.
    Every list is a gallery of its own, in which each image is asked for the others, as in Table 1
    of the paper; an image that is in several lists is once in the test part.
    """
    folder = located(root, "VehicleID_V1.0", "train_test_split/train_list.txt")
    first = folder / "train_test_split" / "train_list.txt"
    layout = "image_number vehicle_id"
    rows: dict[str, Row] = {}
    lists: dict[str, list[int]] = {}
    for image, label in _numbered(first, layout).items():
        rows[image] = (label, "train", folder / "image" / f"{image}.jpg")
    for name, count in _GALLERIES.items():
        file = first.with_name(f"test_list_{count}.txt")
        images = _numbered(file, layout)
        for image, label in images.items():
            path = folder / "image" / f"{image}.jpg"
            known, part, _ = rows.setdefault(image, (label, "test", path))
            if part == "train":
                raise DataError(f"{file}: {image} is in train_list.txt, too")
            if known != label:
                raise DataError(f"{file}: {image} is vehicle {label} here and vehicle "
                                f"{known} in another list")  # fmt: skip
        numbers = {image: number for number, image in enumerate(rows)}
        lists[name] = [numbers[image] for image in images]
    listing = Listing("vehicleid", *as_columns(rows.values()), lists=lists)
    require_unseen(listing.labels, listing.parts, f"{first} and {first.parent}")
    return listing


def _numbered(file: Path, layout: str) -> dict[str, str]:
    """Return the second field of every line by the first, which occurs once."""
    seen: dict[str, str] = {}
    found = {}
    for place, (key, value) in read_fields(file, layout):
        require_new(seen, key, place)
        found[key] = value
    return found


def cub200(root: Path) -> Listing:
    """Read ``images.txt``, ``image_class_labels.txt`` and ``classes.txt`` (Wah et al. 2011)."""
    listed, labeled, named = "images.txt", "image_class_labels.txt", "classes.txt"
    folder = located(root, "CUB_200_2011", listed, labeled)
    names = _numbered(folder / named, "class_id class_name")
    images = _numbered(folder / listed, "image_id path")
    of_image = _numbered(folder / labeled, "image_id class_id")
    for file, known, other, wanted in (
        (labeled, of_image, listed, images),
        (listed, images, labeled, of_image),
    ):
        if missing := [image for image in wanted if image not in known]:
            raise DataError(f"{folder / file}: there is no image {missing[0]}, which {other} has")
    for image, number in of_image.items():
        if number not in names:
            raise DataError(f"{folder / named}: there is no class {number}, which {labeled} gives "
                            f"to image {image}")  # fmt: skip
    labels = [names[of_image[image]] for image in images]
    order = [names[number] for number in in_order(names)]
    paths = [folder / "images" / name for name in images.values()]
    return Listing("cub200", labels, by_halves(labels, order), paths)


def cars196(root: Path) -> Listing:
    """Cars-196 (Krause et al. 2013) in either of its archives.

    ``cars_annos.mat`` beside ``car_ims``; or ``devkit`` with ``cars_train_annos.mat`` and
    ``cars_meta.mat``, beside ``cars_test_annos_withlabels.mat``, ``cars_train`` and ``cars_test``.
    """
    whole, split = "cars_annos.mat", "devkit/cars_train_annos.mat"
    folder = located(root, "stanford_cars", whole, split)
    if (folder / whole).exists():
        names = _class_names(folder / whole)
        found = _annotations(folder / whole, "relative_im_path", folder, len(names))
    else:
        names = _class_names(folder / "devkit" / "cars_meta.mat")
        tests = [place / "cars_test_annos_withlabels.mat" for place in (folder, folder / "devkit")]
        test = next((path for path in tests if path.exists()), tests[0])
        found = _annotations(folder / split, "fname", folder / "cars_train", len(names))
        found += _annotations(test, "fname", folder / "cars_test", len(names))
    labels = [names[number - 1] for number, _ in found]
    return Listing("cars196", labels, by_halves(labels, names), [path for _, path in found])


def _annotations(file: Path, path: str, folder: Path, classes: int) -> list[tuple[int, Path]]:
    """Return class numbers from 1 and files, from the struct array ``annotations``."""
    found = []
    for number, entry in enumerate(_listed(file, "annotations"), start=1):
        if not isinstance(entry, Mapping) or path not in entry or "class" not in entry:
            raise DataError(f"{file}: annotation {number} has no fields {path!r} and 'class'")
        label = entry["class"]
        if not isinstance(label, int) or not 1 <= label <= classes:
            raise DataError(f"{file}: annotation {number}: the class must be a number 1 to "
                            f"{classes}, got {short_repr(label)}")  # fmt: skip
        found.append((int(label), folder / str(entry[path])))
    return found


def _listed(file: Path, variable: str) -> list[object]:
    found = read_matlab(file, variable)
    return found if isinstance(found, list) else [found]


def _class_names(file: Path) -> list[str]:
    names = [str(name) for name in _listed(file, "class_names")]
    if len(set(names)) < len(names):
        raise DataError(f"{file}: two classes have the same name")
    return names


FINDINGS = ("Atelectasis", "Cardiomegaly", "Effusion", "Infiltration", "Mass", "Nodule",
            "Pneumonia", "Pneumothorax", "Consolidation", "Edema", "Emphysema", "Fibrosis",
            "Pleural_Thickening", "Hernia")  # fmt: skip
_NOTHING = "No Finding"
_TABLE = "Data_Entry_2017.csv"
_IMAGE, _LABELS, _PATIENT = "Image Index", "Finding Labels", "Patient ID"


def chestxray(root: Path) -> ClassListing:
    """Read ``Data_Entry_2017.csv``, ``train_val_list.txt``, ``test_list.txt`` (Wang et al. 2017).

    The images are in ``images`` or in ``images_001/images`` to ``images_012/images``, as the
    archives have them. An image with ``No Finding`` has no label. Validation is drawn by patient:
    one has several images, and they are alike.
    """
    folder = located(root, "CXR8", "train_val_list.txt", _TABLE)
    entries = _entries(folder / _TABLE)
    folders = [folder / "images", *sorted(folder.glob("images_[0-9]*"))]
    inner = [own if (own := place / "images").is_dir() else place for place in folders]
    places = {path.name: path for place in inner if place.is_dir() for path in place.iterdir()}
    rows: list[tuple[list[int], str, Part, Path]] = []
    seen: dict[str, str] = {}
    files: dict[Part, str] = {"train": "train_val_list.txt", "test": "test_list.txt"}
    for part, listed in files.items():
        for place, (name,) in read_fields(folder / listed, "image.png"):
            require_new(seen, name, place)
            if name not in entries:
                raise DataError(f"{place}: {short_repr(name)} is not in {_TABLE}")
            rows.append((*entries[name], part, places.get(name, folder / "images" / name)))
    target, patients, parts, paths = zip(*rows, strict=True)
    require_unseen(patients, parts, f"{folder}: {' and '.join(files.values())}", "patients")
    hot = torch.tensor(target, dtype=torch.long)
    return ClassListing("chestxray14", hot, FINDINGS, parts=parts, paths=paths, groups=patients)


def _entries(file: Path) -> dict[str, tuple[list[int], str]]:
    """Return the labels as 0 and 1, and the patient, of every image of the table."""
    found: dict[str, tuple[list[int], str]] = {}
    for place, row in read_rows(file, _IMAGE, _LABELS, _PATIENT):
        names = [name.strip() for name in (row[_LABELS] or "").split("|")]
        if unknown := [name for name in names if name not in (*FINDINGS, _NOTHING)]:
            raise DataError(f"{place}: {short_repr(unknown[0])} is not a finding")
        hot = [int(finding in names) for finding in FINDINGS]
        found[str(row[_IMAGE]).strip()] = hot, str(row[_PATIENT]).strip()
    return found
