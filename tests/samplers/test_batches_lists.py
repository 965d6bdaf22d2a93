from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.samplers import ListBatches


@st.composite
def cases(draw):
    groups = draw(st.lists(st.integers(-4, 8), min_size=1, max_size=60))
    lists = draw(st.integers(1, len(set(groups))))
    return groups, lists, draw(st.none() | st.integers(1, 8))


@given(case=cases(), seed=st.integers(0, 100))
@settings(max_examples=100)
def test_counts_and_no_repetition(case, seed):
    groups, lists, items = case
    sizes = Counter(groups)
    batches = list(ListBatches(groups, lists, items, seed=seed))
    assert len(batches) == len(sizes) // lists
    seen = Counter()
    for batch in batches:
        here = Counter(groups[item] for item in batch)
        assert len(set(batch)) == len(batch)
        assert len(here) == lists
        assert all(count == min(sizes[id_], items or 60) for id_, count in here.items())
        in_order = [groups[item] for item in batch]
        assert in_order == sorted(in_order, key=list(here).index)  # list by list
        seen.update(here.keys())
    assert set(seen.values()) == {1}


def test_another_choice_of_items_and_lists_in_every_epoch():
    sampler = ListBatches([0] * 10 + [1] * 10 + [2] * 10, 2, 3)
    epochs = [list(sampler) for _ in range(30)]
    assert {item for (batch,) in epochs for item in batch} == set(range(30))


def test_rate_is_the_share_of_items_sampled():
    groups = [5] * 6 + [2] * 2
    assert ListBatches(groups, 1, 3).rate == 5 / 8
    assert ListBatches(groups, 1).rate == 1


@pytest.mark.parametrize(
    ("groups", "lists", "items", "message"),
    [
        ([4, 4, 9], 3, 1, "lists must be at most the 2 lists in groups, got 3"),
        ([4, 9], 0, 1, "lists must be a whole number >= 1, got 0"),
        ([4, 9], 1, 0, "items must be a whole number >= 1, got 0"),
        ([0.5, 1.0], 1, 1, "groups must be integer ids"),
    ],
)
def test_bad_input(groups, lists, items, message):
    with pytest.raises(ValueError, match=message):
        ListBatches(groups, lists, items)
