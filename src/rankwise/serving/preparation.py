"""The columns of a table as one numeric matrix, by rules that were learned in a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.serving.columns import Column, is_gap
from rankwise.serving.rules import Category, Learned, Number, Text, Time

Matrix = Any  # a numpy array or a scipy CSR array, which share no type

_KINDS: dict[str, type[Learned]] = {rule.kind: rule for rule in (Number, Category, Time, Text)}


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
        return np.repeat(np.arange(len(self.columns)), [each.width for each in self.columns])

    @cached_property
    def _places(self) -> list[slice]:
        """The prepared columns of every input column."""
        ends = accumulate((column.width for column in self.columns), initial=0)
        return [slice(*pair) for pair in pairwise(ends)]

    @cached_property
    def categories(self) -> dict[int, NDArray[np.str_]]:
        """The levels of the prepared columns that hold numbers of levels, by their place."""
        return {
            place.start: np.array(column.levels, dtype=str)
            for place, column in zip(self._places, self.columns, strict=True)
            if isinstance(column, Category) and not column.indicators
        }

    @property
    def levels(self) -> dict[int, NDArray[np.str_]]:
        """The levels of all columns of words, in order, by the number of the input column."""
        return {
            place: np.array(sorted(column.levels), dtype=str)
            for place, column in enumerate(self.columns)
            if isinstance(column, Category)
        }

    def __call__(self, rows: Matrix | list[Column]) -> Matrix:
        """Prepare a numeric matrix (unchanged where nothing is to be done) or columns.

        Raises:
            ValueError: A column holds another kind of values than in fit.
        """
        if isinstance(rows, np.ndarray):
            numbers = [c for c in self.columns if isinstance(c, Number) and not c.marked]
            whole = all(c.fill is None for c in numbers) or not np.isnan(rows).any()
            if len(numbers) == len(self.columns) and whole:
                return rows
            values = rows.astype(np.float64)
            rows = [Column(n, "number", v) for n, v in zip(self.inputs, values.T, strict=True)]
        if not isinstance(rows, list):
            return rows  # sparse
        prepared = np.zeros((len(rows[0]), len(self.sources)))
        for learned, column, place in zip(self.columns, rows, self._places, strict=True):
            learned.write(_of_kind(learned, column), prepared[:, place])
        return prepared

    def as_json(self) -> dict[str, object]:
        """Return the preparation as plain values."""
        return {"inputs": list(self.inputs), "columns": [c.as_json() for c in self.columns]}

    @classmethod
    def from_json(cls, known: Mapping[str, Any]) -> Preparation:
        """Restore what :meth:`as_json` returned."""
        columns = []
        for each in known["columns"]:
            plain = {n: tuple(v) if isinstance(v, list) else v for n, v in each.items()}
            del plain["kind"]
            columns.append(_KINDS[each["kind"]](**plain))
        return cls(tuple(columns), tuple(known["inputs"]))


_FITS = {
    "number": ("number",),
    "category": ("category", "number"),  # words may be written as numbers
    "time": ("time",),
    "text": ("category",),
}
_HOLDS = {"number": "numbers", "category": "words", "time": "dates", "text": "text"}


def _of_kind(learned: Learned, column: Column) -> Column:
    """Return the column, if its values are of the kind that was learned or all missing."""
    if column.kind in _FITS[learned.kind]:
        return column
    if all(map(is_gap, column.values)):
        return Column(column.name, "number", np.full(len(column), np.nan))
    raise ValueError(
        f"column {column.name!r} of X held {_HOLDS[learned.kind]} in fit, now it holds "
        f"{_HOLDS[column.kind]}; give it as it was in fit"
    )
