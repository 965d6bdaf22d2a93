"""The data sets of the papers: Stanford Online Products, PKU VehicleID, iNaturalist 2018."""

from __future__ import annotations

from pathlib import Path

from rankwise.data.errors import DataError
from rankwise.data.images.lines import Once, located, read_fields, require_unseen
from rankwise.data.images.listing import Listing, Part

__all__ = ["inaturalist", "sop", "vehicleid"]

_SOP_LINE = "image_id class_id super_class_id path"
_GALLERIES = {"small": 800, "medium": 1600, "large": 2400}
_INAT_IMAGES = "train_val2018"


def sop(root: Path) -> Listing:
    """``Ebay_train.txt`` and ``Ebay_test.txt`` (Song et al. 2016), images beside them."""
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
    _require_unseen(labels, parts, files)
    return Listing("sop", labels, parts, paths, families=families)


def vehicleid(root: Path) -> Listing:
    """``train_test_split/train_list.txt`` and the test lists of 800, 1 600 and 2 400 vehicles.

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
    _require_unseen(labels, parts, {"train": split / "train_list.txt", "test": split})
    return Listing("vehicleid", labels, parts, paths, lists=lists)


def inaturalist(root: Path) -> Listing:
    """``Inaturalist_train_set1.txt`` and ``…_test_set1.txt`` (Brown et al. 2020), a path a line.

    The path ends in super-class/class/file; from ``train_val2018`` on it is looked for in ``root``.
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
    _require_unseen(labels, parts, files)
    return Listing("inaturalist", labels, parts, paths, families=families)


def _vehicles(file: Path, folder: Path) -> list[tuple[str, Path]]:
    once = Once()
    found = []
    for number, (image, vehicle) in read_fields(file, 2, "image_number vehicle_id"):
        once(image, file, number)
        found.append((vehicle, folder / "image" / f"{image}.jpg"))
    return found


def _require_unseen(labels: list[str], parts: list[Part], files: dict[Part, Path]) -> None:
    by_part: dict[Part, set[str]] = {"train": set(), "test": set()}
    for label, part in zip(labels, parts, strict=True):
        by_part[part].add(label)
    require_unseen(by_part["train"], by_part["test"], f"{files['train']} and {files['test']}")
