"""Retrieval data sets: SOP, VehicleID, iNaturalist 2018, CUB-200-2011, Cars-196."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.data.errors import DataError
from rankwise.data.images._listing import (
    Listing,
    Once,
    Part,
    by_halves,
    in_order,
    located,
    read_fields,
    require_unseen,
)
from rankwise.extras import require

_SOP_LINE = "image_id class_id super_class_id path"
_GALLERIES = {"small": 800, "medium": 1600, "large": 2400}
_INAT_IMAGES = "train_val2018"


def sop(root: Path) -> Listing:
    """Read ``Ebay_train.txt`` and ``Ebay_test.txt`` (Song et al. 2016), next to the images."""
    folder = located(root, "Stanford_Online_Products", "Ebay_train.txt", "Ebay_test.txt")
    labels: list[str] = []
    parts: list[Part] = []
    paths: list[Path] = []
    families: dict[str, str] = {}
    files: dict[Part, Path] = {"train": folder / "Ebay_train.txt", "test": folder / "Ebay_test.txt"}
    once = Once()
    for part, file in files.items():
        for number, (_, label, family, name) in read_fields(file, 4, _SOP_LINE, header=True):
            once(name, file, number)
            if families.setdefault(label, family) != family:
                raise DataError(
                    f"{file}: line {number}: class {label} is of super-class {family} here and of "
                    f"{families[label]} before"
                )
            labels.append(label)
            parts.append(part)
            paths.append(folder / name)
    require_unseen(labels, parts, " and ".join(map(str, files.values())))
    return Listing("sop", labels, parts, paths, families=families)


def vehicleid(root: Path) -> Listing:
    """Read ``train_test_split/train_list.txt`` and the test lists of 800, 1 600 and 2 400 vehicles.

    (Liu et al. 2016.) A line is an image number and a vehicle; the file is ``image/<number>.jpg``.
    Every list is a gallery of its own, in which each image is asked for the others, as in Table 1
    of the paper; an image that is in several lists is once in the test part.
    """
    folder = located(root, "VehicleID_V1.0", "train_test_split/train_list.txt")
    split = folder / "train_test_split"
    labels: list[str] = []
    parts: list[Part] = []
    paths: list[Path] = []
    for label, path in _vehicles(split / "train_list.txt", folder):
        labels.append(label)
        parts.append("train")
        paths.append(path)
    lists: dict[str, list[int]] = {}
    place = {path: i for i, path in enumerate(paths)}
    for name, count in _GALLERIES.items():
        file = split / f"test_list_{count}.txt"
        lists[name] = []
        for label, path in _vehicles(file, folder):
            if place.setdefault(path, len(paths)) == len(paths):
                labels.append(label)
                parts.append("test")
                paths.append(path)
            elif parts[place[path]] == "train":
                raise DataError(f"{file}: {path.stem} is in train_list.txt, too")
            elif labels[place[path]] != label:
                raise DataError(f"{file}: {path.stem} is vehicle {label} here and vehicle "
                                f"{labels[place[path]]} in another list")  # fmt: skip
            lists[name].append(place[path])
    require_unseen(labels, parts, f"{split / 'train_list.txt'} and {split}")
    return Listing("vehicleid", labels, parts, paths, lists=lists)


def inaturalist(root: Path) -> Listing:
    """Read ``Inaturalist_train_set1.txt`` and ``…_test_set1.txt`` (Brown et al. 2020).

    A line is a path ending in super-class/class/file, below ``root`` from ``train_val2018`` on.
    """
    first, second = "Inaturalist_train_set1.txt", "Inaturalist_test_set1.txt"
    split = located(root, "Inat_dataset_splits", first, second)
    folder = split.parent if split.name == "Inat_dataset_splits" else split
    labels: list[str] = []
    parts: list[Part] = []
    paths: list[Path] = []
    families: dict[str, str] = {}
    files: dict[Part, Path] = {"train": split / first, "test": split / second}
    layout = f"{_INAT_IMAGES}/super-class/class/file.jpg"
    once = Once()
    for part, file in files.items():
        for number, (name,) in read_fields(file, 1, layout):
            once(name, file, number)
            steps = name.split("/")
            if len(steps) < 4 or _INAT_IMAGES not in steps[:-3]:
                raise DataError(f"{file}: line {number}: {name[:80]!r}; a line is {layout!r}")
            family, species = steps[-3:-1]
            families[f"{family}/{species}"] = family
            labels.append(f"{family}/{species}")
            parts.append(part)
            paths.append(folder.joinpath(*steps[steps.index(_INAT_IMAGES) :]))
    require_unseen(labels, parts, " and ".join(map(str, files.values())))
    return Listing("inaturalist", labels, parts, paths, families=families)


def _vehicles(file: Path, folder: Path) -> list[tuple[str, Path]]:
    once = Once()
    found = []
    for number, (image, vehicle) in read_fields(file, 2, "image_number vehicle_id"):
        once(image, file, number)
        found.append((vehicle, folder / "image" / f"{image}.jpg"))
    return found


def cub200(root: Path) -> Listing:
    """Read ``images.txt``, ``image_class_labels.txt`` and ``classes.txt`` (Wah et al. 2011)."""
    folder = located(root, "CUB_200_2011", "images.txt", "image_class_labels.txt")
    names = _numbered(folder / "classes.txt", "class_id class_name")
    images = _numbered(folder / "images.txt", "image_id path")
    of_image = _numbered(folder / "image_class_labels.txt", "image_id class_id")
    labels = []
    for image in images:
        if image not in of_image:
            raise DataError(f"{folder / 'image_class_labels.txt'}: there is no image {image}, "
                            "which images.txt has")  # fmt: skip
        if of_image[image] not in names:
            raise DataError(f"{folder / 'classes.txt'}: there is no class {of_image[image]}, "
                            f"which image_class_labels.txt gives to image {image}")  # fmt: skip
        labels.append(names[of_image[image]])
    if len(of_image) > len(images):
        more = next(image for image in of_image if image not in images)
        raise DataError(f"{folder / 'images.txt'}: there is no image {more}, "
                        "which image_class_labels.txt has")  # fmt: skip
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
        labeled = "cars_test_annos_withlabels.mat"
        test = folder / labeled
        if not test.exists() and (folder / "devkit" / labeled).exists():
            test = folder / "devkit" / labeled
        found = _annotations(folder / split, "fname", folder / "cars_train", len(names))
        found += _annotations(test, "fname", folder / "cars_test", len(names))
    labels = [names[number - 1] for number, _ in found]
    return Listing("cars196", labels, by_halves(labels, names), [path for _, path in found])


def _numbered(file: Path, layout: str) -> dict[str, str]:
    once = Once()
    found = {}
    for number, (key, value) in read_fields(file, 2, layout):
        once(key, file, number)
        found[key] = value
    return found


def _annotations(file: Path, path: str, folder: Path, classes: int) -> list[tuple[int, Path]]:
    """Return class numbers from 1 and files, from the struct array ``annotations``."""
    found = []
    for number, entry in enumerate(np.atleast_1d(_matlab(file, "annotations")), start=1):
        if not isinstance(entry, Mapping) or path not in entry or "class" not in entry:
            raise DataError(f"{file}: annotation {number} has no fields {path!r} and 'class'")
        label = entry["class"]
        if not isinstance(label, int | np.integer) or not 1 <= label <= classes:
            raise DataError(f"{file}: annotation {number}: the class must be a number 1 to "
                            f"{classes}, got {label!r}")  # fmt: skip
        found.append((int(label), folder / str(entry[path])))
    return found


def _class_names(file: Path) -> list[str]:
    names = [str(name) for name in np.atleast_1d(_matlab(file, "class_names"))]
    if len(set(names)) < len(names):
        raise DataError(f"{file}: two classes have the same name")
    return names


def _matlab(file: Path, variable: str) -> Any:
    require("rankwise.data.images", "scipy")
    from scipy.io import loadmat  # noqa: PLC0415  (only this data set needs it)

    if not file.exists():
        raise DataError(f"{file}: there is no such file")
    try:
        found = loadmat(file, variable_names=[variable], simplify_cells=True)
    except Exception as error:  # a damaged file ends in whatever its parser stumbled over
        raise DataError(f"{file}: cannot be read as a MATLAB file: {error}") from error
    if variable not in found:
        raise DataError(f"{file}: holds no variable {variable!r}")
    return found[variable]
