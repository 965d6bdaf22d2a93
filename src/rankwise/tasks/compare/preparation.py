"""Columns of numbers for models that take nothing else."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data import Features

__all__ = ["Preparation"]

_LEVELS = 64  # categories of a column that get a place of their own, the most frequent first


@dataclass(frozen=True)
class _Column:
    """What is known of one column: the middle that fills gaps, or the categories."""

    name: str
    middle: float | None
    flagged: bool  # whether a gap is worth a column of its own
    levels: tuple[str, ...]


@dataclass(frozen=True)
class Preparation:
    """Gaps filled by the median (and marked), categories as one column each.

    Learnt from the rows a model is fitted on; a category that was not among them is none.
    """

    columns: tuple[_Column, ...]

    @classmethod
    def of(cls, features: Features) -> Preparation | None:
        """What a frame needs; arrays are numbers already."""
        if not isinstance(features, pl.DataFrame):
            return None
        return cls(tuple(_learnt(column) for column in features))

    def __call__(self, features: Features) -> Features:
        """The columns as an array of numbers."""
        assert isinstance(features, pl.DataFrame)
        parts = [part for column in self.columns for part in _made(column, features[column.name])]
        return np.column_stack(parts)

    def as_json(self) -> list[dict[str, Any]]:
        """As a file holds it."""
        return [asdict(column) for column in self.columns]

    @classmethod
    def from_json(cls, columns: list[dict[str, Any]]) -> Preparation:
        """What :meth:`as_json` gave."""
        made = [_Column(**{**column, "levels": tuple(column["levels"])}) for column in columns]
        return cls(tuple(made))


def _learnt(column: pl.Series) -> _Column:
    if column.dtype.is_numeric():
        present = column.drop_nulls().drop_nans()
        middle = present.median()
        gaps = len(present) < len(column)
        return _Column(column.name, float(middle) if len(present) else 0.0, gaps, ())  # type: ignore[arg-type]
    counts = column.drop_nulls().value_counts(sort=False)
    by_count = sorted(counts.iter_rows(), key=lambda row: (-row[1], row[0]))
    return _Column(column.name, None, False, tuple(word for word, _ in by_count[:_LEVELS]))


def _made(known: _Column, column: pl.Series) -> list[NDArray[np.float64]]:
    if known.middle is None:
        return [
            (column == level).fill_null(False).to_numpy().astype(float) for level in known.levels
        ]
    values = column.to_numpy()
    gaps = np.isnan(values)
    filled = np.where(gaps, known.middle, values)
    return [filled, gaps.astype(float)] if known.flagged else [filled]
