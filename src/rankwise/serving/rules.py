"""Rules of one column, as learned in a fit, and the numeric columns that it becomes."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankwise.serving.columns import Column, is_gap

Floats: TypeAlias = NDArray[np.float64]

_DAY_US = 86_400_000_000
_TOKEN = re.compile(r"\b\w\w+\b")  # the terms of scikit-learn's vectorizers


@dataclass(frozen=True)
class Learned(ABC):
    """The rule of one column: :attr:`width` columns of numbers for its values."""

    kind: ClassVar[str]  # the name of the class in files

    def __init_subclass__(cls) -> None:
        cls.kind = cls.__name__.lower()

    @abstractmethod
    def names(self, name: str) -> list[str]:
        """Return the names of the columns it becomes, given that of the original."""

    @property
    def width(self) -> int:
        """Number of columns it becomes."""
        return len(self.names(""))

    @abstractmethod
    def write(self, column: Column, out: Floats) -> None:
        """Write the values as numbers into ``out``, zeros of shape (rows, width)."""

    def as_json(self) -> dict[str, object]:
        """Return the rule as plain values."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Number(Learned):
    """A number as it is; with ``fill`` the median of training replaces a missing one.

    ``marked``: a second column is 1 where the value is missing.
    """

    fill: float | None = None
    marked: bool = False

    def names(self, name: str) -> list[str]:
        return [name, f"{name} is missing"] if self.marked else [name]

    def write(self, column: Column, out: Floats) -> None:
        out[:] = _filled(column.values[:, None], (self.fill,), self.marked)


@dataclass(frozen=True)
class Category(Learned):
    """Words: the number of the level, or with ``indicators`` one column of 0 and 1 per level.

    A word that is missing or was not in training has no level: NaN, or 0 in all columns.
    """

    levels: tuple[str, ...]
    indicators: bool = False

    def names(self, name: str) -> list[str]:
        return [f"{name}={level}" for level in self.levels] if self.indicators else [name]

    def write(self, column: Column, out: Floats) -> None:
        values = column.values if column.kind == "category" else column.values.tolist()
        codes = codes_of(values, self.levels)
        if self.indicators:
            rows = np.flatnonzero(codes >= 0)
            out[rows, codes[rows]] = 1
        else:
            out[:, 0] = np.where(codes < 0, np.nan, codes)


@dataclass(frozen=True)
class Time(Learned):
    """Dates as days since 1970, and the month, day, day of the week and hour where they vary."""

    parts: tuple[str, ...]
    fills: tuple[float | None, ...]
    marked: bool = False

    def names(self, name: str) -> list[str]:
        found = [f"{name}: {_PARTS[part]}" for part in self.parts]
        return [found[0], f"{name} is missing", *found[1:]] if self.marked else found

    def write(self, column: Column, out: Floats) -> None:
        values = column.values
        if column.kind != "time":  # nothing but gaps
            values = np.full(len(values), np.datetime64("NaT", "us"))
        found = parts_of(values)
        columns = np.stack([found[part] for part in self.parts], axis=1)
        out[:] = _filled(columns, self.fills, self.marked)


@dataclass(frozen=True)
class Text(Learned):
    """Terms with their inverse document frequencies; rows have length 1, or 0 without a term."""

    terms: tuple[str, ...]
    idf: tuple[float, ...]

    def names(self, name: str) -> list[str]:
        return [f"{name}: {term!r}" for term in self.terms]

    def write(self, column: Column, out: Floats) -> None:
        place = {term: number for number, term in enumerate(self.terms)}
        for row, value in enumerate(column.values):
            counts = Counter(filter(place.__contains__, _TOKEN.findall(word_of(value).lower())))
            for term, count in counts.items():
                out[row, place[term]] = (1 + math.log(count)) * self.idf[place[term]]
        lengths = np.sqrt((out**2).sum(1, keepdims=True))
        out /= np.where(lengths > 0, lengths, 1.0)


_PARTS = {
    "day": "days since 1970",
    "month": "month",
    "monthday": "day of the month",
    "weekday": "day of the week",
    "hour": "hour",
}


def word_of(value: object) -> str:
    """Return a value of a category as a word; missing ones are ``""``, which is not a level."""
    if is_gap(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def codes_of(values: Sequence[object], levels: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of every value among the levels; −1 where it is none of them."""
    place = {level: number for number, level in enumerate(levels)}
    known = {value: place.get(word_of(value), -1) for value in set(values)}
    return np.fromiter(map(known.__getitem__, values), dtype=np.int64, count=len(values))


def _filled(values: Floats, fills: Sequence[float | None], marked: bool) -> Floats:
    """Fill missing values, and mark them by one column after the first."""
    if fills[0] is None:
        return values
    gaps = np.isnan(values)
    filled = np.where(gaps, np.asarray(fills, dtype=np.float64), values)
    return np.insert(filled, 1, gaps[:, 0], axis=1) if marked else filled


def parts_of(values: NDArray[np.datetime64]) -> dict[str, Floats]:
    """Return the days since 1970 and the parts of the date, NaN for missing ones."""
    gone = np.isnat(values)
    instants = np.where(gone, np.datetime64(0, "us"), values)
    since = instants.astype(np.int64)
    days, months = since // _DAY_US, instants.astype("datetime64[M]")
    found = {
        "day": since / _DAY_US,
        "month": months.astype(np.int64) % 12 + 1.0,
        "monthday": days - months.astype("datetime64[D]").astype(np.int64) + 1.0,
        "weekday": (days + 3) % 7 + 0.0,  # Monday 0: 1970 began on a Thursday
        "hour": since % _DAY_US / 3.6e9,
    }
    return {name: np.where(gone, np.nan, part) for name, part in found.items()}
