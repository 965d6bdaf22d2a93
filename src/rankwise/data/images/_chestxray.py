"""ChestX-ray14: fourteen findings in X-ray images, several or none per image."""

from __future__ import annotations

from pathlib import Path

import torch

from rankwise.data._text import read_fields, read_rows, require_new
from rankwise.data.errors import DataError
from rankwise.data.images._class_split import ClassListing
from rankwise.data.images._listing import Part, located, require_unseen

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
    entries, places = _entries(folder / _TABLE), _places(folder)
    rows: list[tuple[list[int], str, Part, Path]] = []
    seen: dict[str, str] = {}
    files: dict[Part, str] = {"train": "train_val_list.txt", "test": "test_list.txt"}
    for part, listed in files.items():
        for place, (name,) in read_fields(folder / listed, "image.png"):
            require_new(seen, name, place)
            if name not in entries:
                raise DataError(f"{place}: {name!r} is not in {_TABLE}")
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
            raise DataError(f"{place}: {unknown[0]!r} is no finding")
        hot = [int(finding in names) for finding in FINDINGS]
        found[str(row[_IMAGE]).strip()] = hot, str(row[_PATIENT]).strip()
    return found


def _places(folder: Path) -> dict[str, Path]:
    """Return the paths of the image files by their names."""
    folders = [folder / "images", *sorted(folder.glob("images_[0-9]*"))]
    inner = [own if (own := place / "images").is_dir() else place for place in folders]
    return {path.name: path for place in inner if place.is_dir() for path in place.iterdir()}
