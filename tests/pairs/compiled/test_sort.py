"""The radix sort of many lists against numpy's sort of each."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from rankwise.pairs._compiled.sort import gather, group, scatter_add, sort_lists


def sorted_lists(scores, starts, order):
    bits = scores.view(np.int64 if scores.dtype == np.float64 else np.int32)
    keys, order = np.empty(len(order), dtype=bits.dtype), order.astype(np.int32)
    sort_lists(bits, starts, keys, order, (np.empty_like(keys), np.empty_like(order)))
    return keys.view(scores.dtype), order


NUMBERS = st.floats(width=32, allow_nan=False) | st.sampled_from([-0.0, 0.0, 1.0, -1.0, 1e-45])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(lists=st.lists(st.lists(NUMBERS, max_size=5) | st.lists(NUMBERS, min_size=60, max_size=90)))
@settings(max_examples=60)
def test_every_list_is_sorted_stably(dtype, lists):
    scores = np.array([x for each in lists for x in each], dtype=dtype)
    starts = np.cumsum([0, *map(len, lists)])
    values, order = sorted_lists(scores, starts, np.arange(len(scores)))
    for a, b in pairwise(starts.tolist()):
        assert (values[a:b] == np.sort(scores[a:b])).all()
        assert sorted(order[a:b]) == list(range(a, b))
    assert (scores[order] == values).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e-6, 1e30])
def test_long_lists_of_any_spread(dtype, scale):
    scores = (scale * np.random.default_rng(0).standard_normal(5_000) + (scale < 1)).astype(dtype)
    values, order = sorted_lists(scores, np.array([0, 3_000, 5_000]), np.arange(5_000))
    expected = np.concatenate(
        [
            np.argsort(scores[:3_000], kind="stable"),
            3_000 + np.argsort(scores[3_000:], kind="stable"),
        ]
    )
    assert (order == expected).all()
    assert (values == scores[expected]).all()


def test_items_of_a_list_may_lie_anywhere():
    scores, list_of = np.array([5.0, 1.0, 4.0, 0.0, 3.0], np.float32), np.array([1, 0, 1, 0, 1])
    starts, order = np.array([0, 2, 5]), np.empty(5, dtype=np.int32)
    group(list_of, starts, order)
    assert order.tolist() == [1, 3, 0, 2, 4]
    values, order = sorted_lists(scores, starts, order)
    assert values.tolist() == [0, 1, 3, 4, 5]
    assert order.tolist() == [3, 1, 4, 2, 0]


def test_gather_and_scatter_are_inverse():
    values, order = np.array([7.0, 8.0, 9.0]), np.array([2, 0, 1], dtype=np.int32)
    taken, back = np.empty(3), np.zeros(3, dtype=np.float32)
    gather(values, order, taken)
    assert taken.tolist() == [9, 7, 8]
    scatter_add(taken, order, back)
    scatter_add(taken, order, back)
    assert back.tolist() == [14, 16, 18]
