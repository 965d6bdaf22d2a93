"""The columns of a table as one numeric matrix, as learned from the rows of a fit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, compress, pairwise

import numpy as np
from numpy.typing import NDArray

from rankwise.estimators.data import Loaded, Matrix
from rankwise.estimators.preparation._columns import Column, column_of, columns_of, is_gap
from rankwise.estimators.preparation._learned import Category, Learned, Number, Text, Time, Weight

__all__ = [
    "Column",
    "Learned",
    "Preparation",
    "column_of",
    "columns_of",
    "learn_column",
    "learn_preparation",
]

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
    def from_json(cls, known: Loaded) -> Preparation:
        """Restore what :meth:`as_json` returned."""
        columns = []
        for each in known["columns"]:
            plain = {n: tuple(v) if isinstance(v, list) else v for n, v in each.items()}
            del plain["kind"]
            columns.append(_KINDS[each["kind"]](**plain))
        return cls(tuple(columns), tuple(known["inputs"]))


def learn_preparation(
    rows: Matrix | list[Column],
    names: Sequence[str],
    weight: Weight,
    *,
    takes_missing: bool,
    takes_categories: bool,
    text: Collection[str] = (),
) -> Preparation:
    """Learn from a matrix or columns, without the rows of weight 0.

    ``text`` names the columns of words that are free text.
    """
    if not isinstance(rows, list):
        if takes_missing or not isinstance(rows, np.ndarray):
            return Preparation((Number(),) * rows.shape[1], tuple(names))
        rows = [Column(name, "number", rows[:, n]) for n, name in enumerate(names)]
    if weight is not None and not weight.all():
        rows, weight = [_of_rows(column, weight > 0) for column in rows], weight[weight > 0]
    learn = partial(
        learn_column, takes_missing=takes_missing, takes_categories=takes_categories, text=text
    )
    return Preparation(tuple(learn(column, weight) for column in rows), tuple(names))


def learn_column(
    column: Column,
    weight: Weight,
    *,
    takes_missing: bool,
    takes_categories: bool,
    text: Collection[str] = (),
) -> Learned:
    """Learn from the values of one column; words may come once each, weighted by their number."""
    if column.name in text:
        if column.kind != "category":
            raise ValueError(
                f"text must name columns of words, got {column.name!r}, which holds "
                f"{column.kind}s; leave it out of text"
            )
        return Text.learn(column.values, weight)
    if column.kind == "category":
        return Category.learn(column.values, weight, indicators=not takes_categories)
    if column.kind == "time":
        return Time.learn(column.values, weight, complete=not takes_missing)
    return Number.learn(column.values, weight, complete=not takes_missing)


def _of_rows(column: Column, chosen: NDArray[np.bool_]) -> Column:
    words = isinstance(column.values, list)
    values = list(compress(column.values, chosen)) if words else column.values[chosen]
    return replace(column, values=values)


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
