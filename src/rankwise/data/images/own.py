"""Any images: a csv with a path and a label a row."""

from __future__ import annotations

import csv
from pathlib import Path

from rankwise.data.errors import DataError
from rankwise.data.images.folders import PARTS
from rankwise.data.images.lines import Once
from rankwise.data.images.listing import Listing, Part

__all__ = ["comma_separated"]


def comma_separated(root: Path) -> Listing:
    """Columns ``path`` and ``label``, maybe ``split``; paths are seen from the file's folder.

    ``split`` is train, validation (val) or test; without it the settings divide the images.
    """
    file = _the_csv(root)
    once = Once()
    labels: list[str] = []
    parts: list[Part] = []
    paths: list[Path] = []
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            rows = csv.DictReader(text, strict=True)
            names = rows.fieldnames or []
            if missing := [name for name in ("path", "label") if name not in names]:
                raise DataError(f"{file}: line 1: there is no column {' and no '.join(missing)}; "
                                f"the columns are: {', '.join(names)}")  # fmt: skip
            for row in rows:
                label, path, split = _row(file, rows.line_num, row, "split" in names)
                once(path, file, rows.line_num)
                labels.append(label)
                paths.append(file.parent / path)
                parts.append(split)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{file}: cannot be read as csv: {error}") from error
    if not labels:
        raise DataError(f"{file}: is empty: a header and no rows")
    said = (f"division: the column split of {file.name}",) if "split" in names else ()
    return Listing(file.stem, labels, parts, paths, base=file.parent, remarks=said)


def _row(
    file: Path, line: int, row: dict[str | None, str | None], has_split: bool
) -> tuple[str, str, Part]:
    where = f"{file}: line {line}"
    if None in row or None in row.values():
        raise DataError(f"{where}: does not have as many fields as the header")
    given = {name: (value or "").strip() for name, value in row.items()}
    label, path, split = given["label"], given["path"], given.get("split", "train")
    if not label or not path:
        raise DataError(f"{where}: {'label' if path else 'path'} is empty")
    if has_split and split.lower() not in PARTS:
        raise DataError(f"{where}: split must be {', '.join(PARTS)}, got {split!r}")
    return label, path, PARTS[split.lower()] if has_split else "train"


def _the_csv(root: Path) -> Path:
    if not root.exists():
        raise DataError(f"{root}: there is no such file")
    if root.is_file():
        return root
    found = sorted(root.glob("*.csv"))
    if len(found) != 1:
        what = ", ".join(path.name for path in found) or "none"
        raise DataError(f"{root}: a folder must hold exactly one .csv file, got {what}")
    return found[0]
