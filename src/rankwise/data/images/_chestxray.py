"""ChestX-ray14: fourteen findings in X-ray images, several or none per image."""

from __future__ import annotations

import csv
from pathlib import Path

import torch

from rankwise.data.errors import DataError
from rankwise.data.images._class_split import ClassListing
from rankwise.data.images._listing import Part, located, read_fields

FINDINGS = ("Atelectasis", "Cardiomegaly", "Effusion", "Infiltration", "Mass", "Nodule",
            "Pneumonia", "Pneumothorax", "Consolidation", "Edema", "Emphysema", "Fibrosis",
            "Pleural_Thickening", "Hernia")  # fmt: skip
_NOTHING = "No Finding"
_TABLE, _IMAGE, _LABELS, _PATIENT = (
    "Data_Entry_2017.csv",
    "Image Index",
    "Finding Labels",
    "Patient ID",
)


def chestxray(root: Path) -> ClassListing:
    """Read ``Data_Entry_2017.csv``, ``train_val_list.txt``, ``test_list.txt`` (Wang et al. 2017).

    The images are in ``images`` or in ``images_001/images`` to ``images_012/images``, as the
    archives have them. An image with ``No Finding`` has no label. Validation is drawn by patient:
    one has several images, and they are alike.
    """
    folder = located(root, "CXR8", "train_val_list.txt", _TABLE)
    entries = _entries(folder / _TABLE)
    places = _places(folder)
    paths: list[Path] = []
    target: list[list[int]] = []
    parts: list[Part] = []
    patients: list[str] = []
    seen: dict[str, Path] = {}
    files: dict[Part, str] = {"train": "train_val_list.txt", "test": "test_list.txt"}
    for part, listed in files.items():
        file = folder / listed
        for number, (name,) in read_fields(file, 1, "image.png"):
            if name in seen:
                raise DataError(f"{file}: line {number}: {name!r} is listed in {seen[name]}")
            seen[name] = file
            if name not in entries:
                raise DataError(f"{file}: line {number}: {name!r} is not in {_TABLE}")
            labels, patient = entries[name]
            paths.append(places.get(name, folder / "images" / name))
            target.append(labels)
            parts.append(part)
            patients.append(patient)
    both = {p for p, part in zip(patients, parts, strict=True) if part == "train"} & {
        p for p, part in zip(patients, parts, strict=True) if part == "test"
    }
    if both:
        raise DataError(
            f"{folder}: {len(both)} patients are both in train_val_list.txt and in test_list.txt, "
            f"the first is {sorted(both)[0]}; the official lists have no such patient"
        )
    hot = torch.tensor(target, dtype=torch.long)
    return ClassListing("chestxray14", hot, FINDINGS, parts=parts, paths=paths, groups=patients)


def _entries(file: Path) -> dict[str, tuple[list[int], str]]:
    """Return the labels as 0 and 1, and the patient, of every image of the table."""
    found: dict[str, tuple[list[int], str]] = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            rows = csv.DictReader(text)
            for wanted in (_IMAGE, _LABELS, _PATIENT):
                if wanted not in (rows.fieldnames or []):
                    raise DataError(f"{file}: line 1: there is no column {wanted!r}")
            for row in rows:
                names = [name.strip() for name in (row[_LABELS] or "").split("|")]
                for name in names:
                    if name not in (*FINDINGS, _NOTHING):
                        raise DataError(f"{file}: line {rows.line_num}: {name!r} is no finding")
                hot = [int(finding in names) for finding in FINDINGS]
                found[str(row[_IMAGE]).strip()] = hot, str(row[_PATIENT]).strip()
    except FileNotFoundError:
        raise DataError(f"{file}: there is no such file") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{file}: cannot be read as csv: {error}") from error
    return found


def _places(folder: Path) -> dict[str, Path]:
    """Return the paths of the image files by their names."""
    folders = [folder / "images", *sorted(folder.glob("images_[0-9]*"))]
    found = {}
    for place in folders:
        inner = place / "images" if (place / "images").is_dir() else place
        if inner.is_dir():
            found.update({path.name: path for path in inner.iterdir()})
    return found
