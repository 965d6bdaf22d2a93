"""CUB-200-2011 and Cars-196: the first half of the classes trains, the second half tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.data.errors import DataError
from rankwise.data.images.lines import Once, located, read_fields
from rankwise.data.images.listing import Listing, by_halves, in_order
from rankwise.extras import require

__all__ = ["cars196", "cub200"]


def cub200(root: Path) -> Listing:
    """``images.txt``, ``image_class_labels.txt`` and ``classes.txt`` (Wah et al. 2011)."""
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
    whole, parted = "cars_annos.mat", "devkit/cars_train_annos.mat"
    folder = located(root, "stanford_cars", whole, parted)
    if (folder / whole).exists():
        names = _class_names(folder / whole)
        found = _annotations(folder / whole, "relative_im_path", folder, len(names))
    else:
        names = _class_names(folder / "devkit" / "cars_meta.mat")
        labeled = "cars_test_annos_withlabels.mat"
        test = folder / labeled
        if not test.exists() and (folder / "devkit" / labeled).exists():
            test = folder / "devkit" / labeled
        found = _annotations(folder / parted, "fname", folder / "cars_train", len(names))
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
    """Class numbers from 1 and files, from the struct array ``annotations``."""
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
