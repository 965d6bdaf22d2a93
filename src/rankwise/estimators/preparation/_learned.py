"""Rules of one column, learned from the rows of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from rankwise.serving.rules import (
    Category,
    Floats,
    Number,
    Text,
    Time,
    codes_of,
    parts_of,
    word_of,
)

Weight: TypeAlias = NDArray[np.float64] | None

LEVELS = 64  # categories of a column that get an indicator each, the most frequent first
_TERMS = 256  # terms of a column of text that get a column each, the most frequent first
_RARE, _COMMON = 2, 0.5  # least rows, and largest share of the rows, of a term


def learn_number(values: Floats, weight: Weight, *, complete: bool) -> Number:
    """Learn the median where the model takes no missing values (``complete``)."""
    if not complete:
        return Number()
    return Number(median_of(values, weight), bool(np.isnan(values).any()))


def learn_category(values: Sequence[object], weight: Weight, *, indicators: bool) -> Category:
    """Learn all levels in order, or the most frequent ones as indicators."""
    levels = sorted({word_of(value) for value in set(values)} - {""})
    if not indicators:
        return Category(tuple(levels))
    codes = codes_of(values, levels)
    there = codes >= 0
    counts = np.bincount(codes[there], None if weight is None else weight[there], len(levels))
    by_count = sorted(zip(-counts, levels, strict=True))
    return Category(tuple(word for _, word in by_count[:LEVELS]), True)


def learn_time(values: NDArray[np.datetime64], weight: Weight, *, complete: bool) -> Time:
    """Learn the parts that vary among the rows."""
    found = parts_of(values)
    varied = [n for n, each in found.items() if len(np.unique(each[~np.isnan(each)])) > 1]
    parts = tuple(dict.fromkeys(("day", *varied)))
    if not complete:
        return Time(parts, (None,) * len(parts))
    fills = tuple(median_of(found[name], weight) for name in parts)
    return Time(parts, fills, bool(np.isnat(values).any()))


def learn_text(values: Sequence[object], weight: Weight) -> Text:
    """Learn the most frequent terms that are in 2 rows at least and in half of them at most."""
    vectorizer = CountVectorizer()
    try:
        counts = vectorizer.fit_transform([word_of(value) for value in values])
    except ValueError:  # not a single term in all the rows
        return Text((), ())
    rows = np.ones(len(values)) if weight is None else weight
    frequency = rows @ (counts > 0)
    total, terms = float(rows.sum()), vectorizer.get_feature_names_out()
    useful = np.flatnonzero((frequency >= _RARE) & (frequency <= _COMMON * total))
    kept = sorted(useful, key=lambda place: (-frequency[place], terms[place]))[:_TERMS]
    idf = np.log((1 + total) / (1 + frequency[kept])) + 1
    return Text(tuple(map(str, terms[kept])), tuple(idf.tolist()))


def median_of(values: Floats, weight: Weight) -> float:
    """Return the weighted median of the values that are not missing; 0 for none."""
    there = ~np.isnan(values)
    if not there.all():
        values, weight = values[there], None if weight is None else weight[there]
    if not len(values):
        return 0.0
    if weight is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    through = np.cumsum(weight[order])
    half = through[-1] / 2
    first = int(np.searchsorted(through, half))
    # As of rows repeated by their weight: the mean of the two in the middle.
    second = first + 1 if through[first] == half else first
    return float((values[order[first]] + values[order[min(second, len(order) - 1)]]) / 2)
