from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankwise.samplers.groups import Groups, count_up


@given(ids=st.lists(st.integers(-(10**12), 10**12) | st.integers(0, 3), min_size=1, max_size=40))
def test_every_item_stands_once_among_those_of_its_group(ids):
    groups = Groups(np.array(ids))
    items = groups.shuffled(np.random.default_rng(0))
    assert sorted(items) == list(range(len(ids)))
    assert len(groups) == len(set(ids))
    for id_, start, size in zip(groups.ids, groups.starts, groups.sizes, strict=True):
        assert size == ids.count(id_)
        assert {ids[item] for item in items[start : start + size]} == {id_}


def test_more_groups_than_fit_in_a_byte():
    items = Groups(np.arange(300) // 2).shuffled(np.random.default_rng(0))
    assert (items // 2 == np.arange(300) // 2).all()


def test_every_order_inside_a_group_comes_up():
    groups, rng = Groups(np.array([7, 1, 7, 7])), np.random.default_rng(0)
    assert len({tuple(groups.shuffled(rng)) for _ in range(100)}) == 6


@given(sizes=st.lists(st.integers(0, 5), max_size=10))
def test_count_up(sizes):
    expected = [place for size in sizes for place in range(size)]
    assert count_up(np.array(sizes, dtype=np.int64)).tolist() == expected
