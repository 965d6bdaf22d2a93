"""Right items of queries, against a look at every label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rankwise.retrieval.evaluation import Positives

Ints = NDArray[np.int64]

some_labels = st.lists(st.integers(-2, 4), max_size=12)


def ints(*values: int) -> Ints:
    return np.array(values, dtype=np.int64)


def right(positives: Positives, queries: Ints) -> list[list[int]]:
    """The right items of each query, in ascending order."""
    items, there = positives.of(queries)
    assert items.shape == there.shape
    return [sorted(row[mask].tolist()) for row, mask in zip(items, there, strict=True)]


@settings(max_examples=50)
@given(some_labels, st.lists(st.integers(-3, 5), max_size=8), st.data())
def test_queries_from_outside_find_all_of_their_class(
    labels: list[int], asked: list[int], data: st.DataObject
) -> None:
    positives = Positives(ints(*labels), ints(*asked), None)
    known = [[i for i, label in enumerate(labels) if label == one] for one in asked]
    assert positives.count.tolist() == [len(each) for each in known]
    rows = data.draw(st.lists(st.integers(0, len(asked) - 1), max_size=8)) if asked else []
    assert right(positives, ints(*rows)) == [known[row] for row in rows]


@settings(max_examples=50)
@given(some_labels, st.data())
def test_items_of_the_gallery_find_the_others_of_their_class(
    labels: list[int], data: st.DataObject
) -> None:
    items = len(labels)
    positives = Positives(ints(*labels), ints(*labels), np.arange(items))
    known = [[j for j in range(items) if labels[j] == labels[i] and j != i] for i in range(items)]
    assert positives.count.tolist() == [len(each) for each in known]
    rows = data.draw(st.lists(st.integers(0, items - 1), max_size=8)) if items else []
    assert right(positives, ints(*rows)) == [known[row] for row in rows]


@settings(max_examples=50)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=10), st.data())
def test_queries_may_stand_anywhere_in_the_gallery(labels: list[int], data: st.DataObject) -> None:
    own = data.draw(st.lists(st.integers(0, len(labels) - 1), min_size=1, max_size=6))
    positives = Positives(ints(*labels), ints(*labels)[own], ints(*own))
    known = [[j for j, label in enumerate(labels) if label == labels[i] and j != i] for i in own]
    assert right(positives, np.arange(len(own))) == known
    assert positives.count.tolist() == [len(each) for each in known]


@settings(max_examples=50)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=10), st.integers(0, 999))
def test_cells_that_are_none_can_be_looked_up_all_the_same(labels: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    asked = rng.integers(-1, 7, size=5)
    items, there = Positives(ints(*labels), asked, None).of(np.arange(5))
    assert there.dtype == np.bool_
    assert bool(((items >= 0) & (items < len(labels))).all())


def test_by_hand() -> None:
    positives = Positives(ints(7, 5, 7, 5, 7, 3), ints(5, 7, 4), None)
    assert positives.count.tolist() == [2, 3, 0]
    assert right(positives, ints(2, 0, 1)) == [[], [1, 3], [0, 2, 4]]


def test_a_block_is_as_wide_as_its_largest_class() -> None:
    positives = Positives(ints(7, 5, 7, 5, 7, 3), ints(5, 7, 3, 4), None)
    for queries, most in ((ints(0, 2), 2), (ints(1), 3), (ints(3), 0), (ints(), 0)):
        items, _ = positives.of(queries)
        assert items.shape == (len(queries), most)


def test_an_item_alone_in_its_class_has_nothing_to_find() -> None:
    positives = Positives(ints(1, 2, 2), ints(1, 2, 2), np.arange(3))
    assert positives.count.tolist() == [0, 1, 1]
    assert right(positives, np.arange(3)) == [[], [2], [1]]


def test_one_class_is_all_the_others() -> None:
    positives = Positives(ints(4, 4, 4), ints(4, 4, 4), np.arange(3))
    assert right(positives, np.arange(3)) == [[1, 2], [0, 2], [0, 1]]


def test_an_empty_gallery_has_nothing_to_find() -> None:
    positives = Positives(ints(), ints(1, 2), None)
    assert positives.count.tolist() == [0, 0]
    assert right(positives, ints(0, 1)) == [[], []]


def test_a_query_that_is_not_there() -> None:
    with pytest.raises(IndexError):
        Positives(ints(1, 1), ints(1), None).of(ints(1))
