"""What the columns of a table become as one numeric matrix, learned from the rows of a fit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from rankwise.estimators.data import Matrix
from rankwise.estimators.preparation._learned import (
    Weight,
    learn_category,
    learn_number,
    learn_text,
    learn_time,
)
from rankwise.serving.columns import Column, column_of, columns_of
from rankwise.serving.preparation import Preparation
from rankwise.serving.rules import Learned, Number

__all__ = [
    "Column",
    "Learned",
    "Preparation",
    "column_of",
    "columns_of",
    "learn_column",
    "learn_preparation",
]


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
        return learn_text(column.values, weight)
    if column.kind == "category":
        return learn_category(column.values, weight, indicators=not takes_categories)
    if column.kind == "time":
        return learn_time(column.values, weight, complete=not takes_missing)
    return learn_number(column.values, weight, complete=not takes_missing)


def _of_rows(column: Column, chosen: NDArray[np.bool_]) -> Column:
    words = isinstance(column.values, list)
    values = list(compress(column.values, chosen)) if words else column.values[chosen]
    return replace(column, values=values)
