"""Cells with numbers made up."""

from __future__ import annotations

from dataclasses import replace

from reproductions.retrieval.cell import Cell

CELL = Cell(
    problem="letters",
    kind="pretrained",
    method="SupCon",
    seed=0,
    objective="sup_con",
    rate=0.001,
    validation=0.5,
    map=0.4,
    hit=0.7,
    r_precision=0.35,
    precision=(1.0, 0.5, 0.1),
    history=((10, 0.3), (20, 0.5)),
    found=((1, 2), (3, 4)),
    ranks=((1, 3), (2, 5)),
)


def cells(method: str, maps: list[float], validation: float = 0.5) -> list[Cell]:
    """One cell for each test mAP."""
    return [
        replace(CELL, method=method, seed=seed, map=value, validation=validation)
        for seed, value in enumerate(maps)
    ]
