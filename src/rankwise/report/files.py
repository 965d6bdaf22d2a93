"""CSV and JSON files, written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rankwise.files import write_whole

__all__ = ["write_csv", "write_json", "write_whole"]


def write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write rows as comma-separated values; the columns are the union of their keys, in order."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return write_whole(path, text.getvalue())


def write_json(path: Path, value: object) -> Path:
    """Write a value as indented JSON; NaN and infinity raise."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return write_whole(path, text + "\n")
