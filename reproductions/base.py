"""What a study is given and what it hands back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from rankwise.checks import require_count
from rankwise.report import (
    Figure,
    Section,
    Table,
    render_report,
    write_csv,
    write_json,
    write_whole,
)

__all__ = ["Outcome", "Result", "Setting", "Track", "write_outcome"]

_Item = TypeVar("_Item")


class Track(Protocol):
    """Goes through a sequence and shows how far it is; ``doing`` says in words what is done."""

    def __call__(self, work: Sequence[_Item], doing: str) -> Iterable[_Item]: ...


def _silently(work: Sequence[_Item], doing: str) -> Iterable[_Item]:
    return work


@dataclass(frozen=True)
class Setting:
    """How a study is to be run.

    ``draws`` is how often its random part is repeated, ``data`` the file or folder of a study that
    is about somebody's data; ``folder`` is where a long study may keep its runs.
    """

    seed: int = 0
    quick: bool = False
    draws: int | None = None
    track: Track = _silently
    data: Path | None = None
    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.draws is not None:
            require_count("draws", self.draws)
            if self.draws < 2:  # one draw has no interval, and every figure is told with one
                raise ValueError("draws must be a whole number >= 2 or None, got 1")


@dataclass(frozen=True)
class Outcome:
    """What a study found: rows of data, a summary, and how to show them."""

    title: str
    rows: Sequence[Mapping[str, object]]
    summary: Mapping[str, object]
    sections: Sequence[Section]
    figures: Mapping[str, Figure]
    table: Table


@dataclass(frozen=True)
class Result:
    """Where the page of a study is, and its table for the terminal."""

    page: Path
    table: Table


def write_outcome(outcome: Outcome, folder: Path) -> Result:
    """``data.csv``, ``summary.json``, the figures and ``index.html`` in ``folder``."""
    write_csv(folder / "data.csv", outcome.rows)
    write_json(folder / "summary.json", _with_nulls(outcome.summary))
    for name, figure in outcome.figures.items():
        write_whole(folder / f"{name}.png", figure.png)
    where = write_whole(folder / "index.html", render_report(outcome.title, outcome.sections))
    return Result(where, outcome.table)


def _with_nulls(value: object) -> object:
    """What is no finite number as null: the slope of a single size, a ratio to nothing."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _with_nulls(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_with_nulls(each) for each in value]
    return value
