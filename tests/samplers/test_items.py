from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankwise.samplers._items import Groups, count_up, read_ids, read_target


@pytest.mark.parametrize(
    "target",
    [
        [0, 1, 1],
        (0.0, 1.0, 1.0),
        np.array([False, True, True]),
        np.array([1, 1, 0], dtype=np.uint16)[::-1],
        torch.tensor([0, 1, 1], dtype=torch.bfloat16, requires_grad=True),
    ],
)
def test_targets_of_every_kind(target):
    assert read_target(target).tolist() == [False, True, True]


@pytest.mark.parametrize("ids", [[3, -1], np.array([3, -1], dtype=np.int8), torch.tensor([3, -1])])
def test_ids_of_every_kind(ids):
    read = read_ids("groups", ids)
    assert read.tolist() == [3, -1]
    assert read.dtype == np.int64


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ([0, 1, 2], r"target must contain only 0 and 1, got values such as \[0, 1, 2\]"),
        ([0.0, float("nan")], "target must contain only 0 and 1"),
        ([[0, 1]], r"target must be one-dimensional .* got shape \(1, 2\)"),
        ([], r"target must be one-dimensional .* got shape \(0,\)"),
        (1, r"target must be one-dimensional .* got shape \(\)"),
        (["no", "yes"], "target must be a list of numbers, one per item"),
        ([[0], [1, 1]], "target must be a list of numbers, one per item"),
    ],
)
def test_bad_targets(target, message):
    with pytest.raises(ValueError, match=message):
        read_target(target)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([0.0, 1.0], "labels must be integer ids, one per item, got torch.float64"),
        ([True, False], "labels must be integer ids, one per item, got torch.bool"),
        (torch.zeros(2, 2, dtype=torch.long), r"labels must be .* got shape \(2, 2\)"),
    ],
)
def test_bad_ids(ids, message):
    with pytest.raises(ValueError, match=message):
        read_ids("labels", ids)


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
