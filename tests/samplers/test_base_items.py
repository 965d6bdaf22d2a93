from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.samplers.base import Groups, count_up, read_ids, read_target
from rankwise.samplers.batches import assign_to_batches, even_draws


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


many = settings(max_examples=200)


@st.composite
def draws(draw):
    things = draw(st.integers(1, 20))
    return things, draw(st.integers(1, things)), draw(st.integers(1, 40))


@given(case=draws(), seed=st.integers(0, 2**32))
@many
def test_draws_are_even_and_hold_nothing_twice(case, seed):
    things, per_draw, times = case
    drawn = even_draws(things, per_draw, times, np.random.default_rng(seed))
    assert drawn.shape == (times, per_draw)
    assert all(len(set(row)) == per_draw for row in drawn)
    counts = np.bincount(drawn.ravel(), minlength=things)
    assert len(counts) == things
    assert np.ptp(counts) <= 1


def test_draws_pass_over_the_things_in_a_new_order_each_time():
    passes = even_draws(50, 7, 50, np.random.default_rng(0)).reshape(7, 50)
    assert all(sorted(order) == list(range(50)) for order in passes)
    assert len({tuple(order) for order in passes}) == 7


def test_every_draw_is_as_likely():
    drawn = even_draws(5, 2, 20_000, np.random.default_rng(0))
    pairs = np.bincount(drawn.min(1) * 5 + drawn.max(1))
    assert (np.abs(pairs[pairs > 0] / 20_000 - 1 / 10) < 0.02).all()
    assert np.count_nonzero(pairs) == 10


@st.composite
def suits(draw):
    """Counts up to the number of batches that fill them, the last suits making up for the rest."""
    batches = draw(st.integers(1, 12))
    counts = draw(st.lists(st.integers(0, batches), min_size=1, max_size=15))
    return [*counts, -sum(counts) % batches], batches


@given(case=suits(), seed=st.integers(0, 2**32))
@many
def test_every_card_is_dealt_and_no_suit_twice_to_a_batch(case, seed):
    counts, batches = case
    hands = assign_to_batches(np.array(counts), batches, np.random.default_rng(seed))
    assert hands.shape == (batches, sum(counts) // batches)
    assert sorted(hands.ravel()) == list(range(sum(counts)))
    suit = np.repeat(np.arange(len(counts)), counts)[hands]
    assert all(len(set(row)) == len(row) for row in suit)


def test_suits_meet_many_others():
    hands = assign_to_batches(np.full(100, 10), 100, np.random.default_rng(0))
    suit = hands // 10
    met = [len(set(suit[(suit == s).any(1)].ravel())) - 1 for s in range(100)]
    # Ten hands with nine others each; 99 · (1 − (1 − 9/99)^10) ≈ 61 at random.
    assert abs(np.mean(met) - 61) < 3
