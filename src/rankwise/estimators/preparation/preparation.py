"""All columns of a table as one matrix of numbers, learned from the rows of a fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from rankwise.estimators.preparation.learned import Category, Learned, Number, Time, Weight
from rankwise.estimators.preparation.table import Column
from rankwise.estimators.preparation.text import Text

__all__ = ["Preparation", "learn_preparation"]

_KINDS: dict[str, type[Learned]] = {kind.kind: kind for kind in (Number, Category, Time, Text)}


@dataclass(frozen=True)
class Preparation:
    """What every column of the input becomes.

    A model that takes missing values and categories gets NaN and the numbers of the levels. For
    any other, gaps are filled by the median and marked, and categories become indicators.
    """

    columns: tuple[Learned, ...]
    inputs: tuple[str, ...]  # the names of the columns, or their numbers

    @cached_property
    def names(self) -> list[str]:
        """The names of the prepared columns, such as ``"color=red"`` and ``"when: month"``."""
        pairs = zip(self.columns, self.inputs, strict=True)
        return [name for column, given in pairs for name in column.names(given)]

    @cached_property
    def sources(self) -> NDArray[np.int64]:
        """For every prepared column the number of the input column that it was made from."""
        widths = [column.width for column in self.columns]
        return np.repeat(np.arange(len(widths)), widths)

    @cached_property
    def categories(self) -> dict[int, NDArray[Any]]:
        """The levels of the prepared columns that hold numbers of levels, by their place."""
        starts = np.cumsum([0, *(column.width for column in self.columns)])
        return {
            int(start): np.array(column.levels, dtype=str)
            for start, column in zip(starts, self.columns, strict=False)
            if isinstance(column, Category) and not column.indicators
        }

    @property
    def levels(self) -> dict[int, NDArray[Any]]:
        """The levels of all columns of words, in order, by the number of the input column."""
        return {
            place: np.array(sorted(column.levels), dtype=str)
            for place, column in enumerate(self.columns)
            if isinstance(column, Category)
        }

    def __call__(self, rows: Any) -> Any:
        """Prepare a matrix of numbers (as it is, where nothing is to be done) or columns.

        Raises:
            ValueError: A column holds another kind of values than in fit.
        """
        if issparse(rows):
            return rows
        if not isinstance(rows, list):
            if self._leaves(rows):
                return rows
            values = rows.astype(np.float64)
            rows = [Column(n, "number", v) for n, v in zip(self.inputs, values.T, strict=True)]
        pairs = zip(self.columns, rows, strict=True)
        prepared = np.zeros((len(rows[0]), len(self.sources)))
        start = 0
        for learned, column in pairs:
            given = _of_kind(learned, column)
            learned.write(given, prepared[:, start : start + learned.width])
            start += learned.width
        return prepared

    def _leaves(self, matrix: NDArray[Any]) -> bool:
        """Whether a matrix is what the model gets."""
        if not all(isinstance(each, Number) and not each.marked for each in self.columns):
            return False
        keeps = all(isinstance(each, Number) and each.fill is None for each in self.columns)
        return keeps or not np.isnan(matrix).any()

    def as_json(self) -> dict[str, Any]:
        """The preparation as plain values."""
        return {
            "inputs": list(self.inputs),
            "columns": [column.as_json() for column in self.columns],
        }

    @classmethod
    def from_json(cls, known: Mapping[str, Any]) -> Preparation:
        """Take back what :meth:`as_json` gave."""
        columns = []
        for each in known["columns"]:
            plain = {n: tuple(v) if isinstance(v, list) else v for n, v in each.items()}
            del plain["kind"]
            columns.append(_KINDS[each["kind"]](**plain))
        return cls(tuple(columns), tuple(known["inputs"]))


def learn_preparation(
    rows: Any,
    names: Sequence[str],
    weight: Weight,
    *,
    takes_missing: bool,
    takes_categories: bool,
    text: Collection[str] = (),
) -> Preparation:
    """Learn from a matrix or columns; rows of weight 0 are not there.

    ``text`` names the columns of words that are free text.
    """
    if issparse(rows):
        return Preparation((Number(),) * rows.shape[1], tuple(names))
    if not isinstance(rows, list):
        if takes_missing:
            return Preparation((Number(),) * rows.shape[1], tuple(names))
        rows = [Column(name, "number", rows[:, n]) for n, name in enumerate(names)]
    if weight is not None and not weight.all():
        rows, weight = [_of_rows(column, weight > 0) for column in rows], weight[weight > 0]
    found: list[Learned] = []
    for column in rows:
        if column.name in text:
            found.append(_text(column, weight))
        elif column.kind == "category":
            indicators = not takes_categories
            found.append(Category.learn(column.values, weight, indicators=indicators))
        elif column.kind == "time":
            found.append(Time.learn(column.values, weight, complete=not takes_missing))
        else:
            found.append(Number.learn(column.values, weight, complete=not takes_missing))
    return Preparation(tuple(found), tuple(names))


def _text(column: Column, weight: Weight) -> Text:
    if column.kind != "category":
        raise ValueError(
            f"text must name columns of words, got {column.name!r}, which holds {column.kind}s; "
            "leave it out of text"
        )
    return Text.learn(column.values, weight)


def _of_rows(column: Column, chosen: NDArray[np.bool_]) -> Column:
    if isinstance(column.values, list):
        values = [v for v, kept in zip(column.values, chosen, strict=True) if kept]
        return Column(column.name, column.kind, values)
    return Column(column.name, column.kind, column.values[chosen])


_FITS = {
    "number": ("number",),
    "category": ("category", "number"),  # words may be written as numbers
    "time": ("time",),
    "text": ("category",),
}
_HOLDS = {"number": "numbers", "category": "words", "time": "dates"}


def _of_kind(learned: Learned, column: Column) -> Column:
    """The column, if its values are of the kind that was learned; nothing but gaps is of any."""
    if column.kind in _FITS[learned.kind]:
        return column
    if column.is_empty:
        return Column(column.name, "number", np.full(len(column), np.nan))
    raise ValueError(
        f"column {column.name!r} of X held {learned.holds} in fit, now it holds "
        f"{_HOLDS[column.kind]}; give it as it was in fit"
    )
