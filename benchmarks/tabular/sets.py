"""The tables, and how their rows are parted."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankwise.estimators.data import Part

__all__ = ["SETS", "Parts", "inner", "load", "parted"]

SETS = ["thyroid", "mammography", "pendigits", "optdigits", "satimage_2", "waveform", "musk"]
SETS += ["aloi", "campaign", "creditcard_100k", "cover"]
TARGETS = {"creditcard_100k": "Class"}

Parts = tuple[Part, Part, Part]
"""Rows to learn from, to stop by and to evaluate on."""


def load(folder: Path, name: str, seed: int) -> Parts:
    """60:20:20 of the rows of a set, within each class."""
    import polars  # noqa: PLC0415  (the peers' interpreter has none, and reads no sets)

    table = polars.read_parquet(folder / "tabular" / f"{name}.parquet")
    column = TARGETS.get(name, "target")
    y = table[column].to_numpy().astype(float)
    return parted(Part(table.drop(column).to_numpy().astype(np.float32), y), seed)


def parted(rows: Part, seed: int) -> Parts:
    rng, parts = np.random.default_rng(seed), ([], [], [])  # type: ignore[var-annotated]
    for value in (0, 1):
        members = rng.permutation(np.flatnonzero(rows.target == value))
        cuts = [int(0.6 * len(members)), int(0.8 * len(members))]
        for part, some in zip(parts, np.split(members, cuts), strict=True):
            part.append(some)
    first, second, third = (rows.rows(np.concatenate(part)) for part in parts)
    return first, second, third


def inner(parts: Parts, seed: int) -> Parts:
    """The rows that are not the last part, parted again: what a form may be chosen on."""
    rows, target = (
        np.concatenate([getattr(part, name) for part in parts[:2]]) for name in ("X", "target")
    )
    return parted(Part(rows, target), 1000 + seed)
