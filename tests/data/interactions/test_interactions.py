"""Tests of interactions and their split."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.data import DataError
from rankwise.data.interactions import Interactions, join_parts, split_by_user

SMALL = Interactions(
    Path("small"),
    np.array([0, 0, 1]),
    np.array([0, 1, 0]),
    np.array([3.0, 4.0, 5.0]),
    None,
    ("u", "v"),
    ("a", "b"),
)


def test_positives_are_from_the_threshold_on():
    assert SMALL.positive(4).tolist() == [False, True, True]
    assert SMALL.positive(None).all()


def of(users, time=None):
    user = np.asarray(users)
    count = int(user.max()) + 1
    when = None if time is None else np.asarray(time, dtype=float)
    return Interactions(
        Path("small"),
        user,
        np.arange(len(user)),
        np.ones(len(user)),
        when,
        tuple(map(str, range(count))),
        tuple(map(str, range(len(user)))),
    )


def test_the_last_by_time_are_left_out():
    data = of([0, 0, 0, 0, 1, 1, 1], time=[4, 1, 3, 2, 9, 8, 7])
    found = split_by_user(data, by="time", validation=1, test=1)
    assert found.part.tolist() == [2, 0, 1, 0, 2, 1, 0]
    assert found.undivided == 0


def test_who_has_too_few_stays_whole_and_is_counted():
    data = of([0, 0, 0, 1, 1, 2], time=[1, 2, 3, 1, 2, 1])
    found = split_by_user(data, by="time", validation=1, test=1)
    assert found.part.tolist() == [0, 1, 2, 0, 0, 0]
    assert found.undivided == 2


def test_shares_are_rounded_within_every_user():
    data = of([0] * 10 + [1] * 5 + [2], time=range(16))
    found = split_by_user(data, by="time", validation=0.1, test=0.2)
    assert found.part.tolist() == [0] * 7 + [1, 2, 2] + [0, 0, 0, 1, 2] + [0]
    assert found.undivided == 1


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 5), min_size=30, max_size=60),
    st.integers(0, 3),
    st.booleans(),
)
def test_every_user_keeps_something_and_nothing_to_come_is_learned_from(users, seed, by_time):
    times = np.random.default_rng(seed).integers(0, 9, len(users))
    data = of(users, times)
    by = "time" if by_time else "random"
    found = split_by_user(data, by=by, validation=0.2, test=0.3, seed=seed)
    for user in set(users):
        own = data.user == user
        parts, when = found.part[own], times[own]
        assert (parts == 0).any()
        if by_time:
            ends = [when[parts == p] for p in range(3) if (parts == p).any()]
            assert all(a.max() <= b.min() for a, b in pairwise(ends))
    assert (
        split_by_user(data, by=by, validation=0.2, test=0.3, seed=seed).part == found.part
    ).all()


def test_another_seed_is_another_split():
    data = of([0] * 50)
    first, second = (split_by_user(data, seed=seed).part for seed in (0, 1))
    assert np.bincount(first).tolist() == np.bincount(second).tolist() == [35, 5, 10]
    assert (first != second).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": 1.5}, "test must be a share in"),
        ({"validation": -0.1}, "validation must be a share in"),
        ({"test": 0}, "test must be above 0"),
        ({"by": "user"}, "by"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        split_by_user(of([0] * 9), **options)


def test_data_that_cannot_be_split():
    with pytest.raises(DataError, match="has no time to split by"):
        split_by_user(of([0] * 9), by="time")
    with pytest.raises(DataError, match=r"no user has enough interactions.*the most are 2"):
        split_by_user(of([0, 0, 1]), validation=1, test=1)


def named(path, pairs, time=None):
    users, items = (tuple(sorted({pair[side] for pair in pairs})) for side in (0, 1))
    user = np.array([users.index(u) for u, _ in pairs])
    item = np.array([items.index(i) for _, i in pairs])
    when = None if time is None else np.asarray(time, dtype=float)
    return Interactions(Path(path), user, item, np.ones(len(pairs)), when, users, items)


TRAIN = named("train", [("u", "a"), ("u", "b"), ("u", "c"), ("v", "b"), ("v", "d")], range(5))


def test_published_parts_keep_their_rows():
    test = named("test", [("v", "a"), ("u", "z"), ("u", "d")])
    both = join_parts(TRAIN, test=test)
    assert both.users == ("u", "v")
    assert both.items == ("a", "b", "c", "d", "z")  # z only in the test file: in the catalog
    pairs = [(both.users[u], both.items[i]) for u, i in zip(both.user, both.item, strict=True)]
    assert pairs[5:] == [("v", "a"), ("u", "z"), ("u", "d")]
    assert both.part.tolist() == [0] * 5 + [2] * 3
    assert both.remarks == ()
    found = split_by_user(both, by="time", validation=1).part
    assert found.tolist() == [0, 0, 1, 0, 1, 2, 2, 2]  # the last of each user in the training file
    given = join_parts(TRAIN, validation=named("validation", [("v", "c")]), test=test)
    assert split_by_user(given).part.tolist() == [0] * 5 + [1, 2, 2, 2]
    only = split_by_user(join_parts(TRAIN, validation=test), by="time", test=1).part
    assert only.tolist() == [0, 0, 2, 0, 2, 1, 1, 1]


def test_what_published_parts_leave_out_is_said():
    test = named("test", [("u", "a"), ("u", "d"), ("w", "a"), ("w", "b")])
    both = join_parts(TRAIN, test=test)
    assert both.part.tolist() == [0] * 5 + [2]
    assert both.users == ("u", "v")
    assert both.remarks == (
        "test: 2 of 4 interactions left out, of users without any to train on (the first: user w, "
        "item a)",
        "test: 1 of 4 interactions left out, that an earlier part has (the first: user u, item a)",
    )
    chosen, later = named("validation", [("u", "d")]), named("test", [("u", "d"), ("v", "a")])
    twice = join_parts(TRAIN, validation=chosen, test=later)
    assert twice.part.tolist() == [0] * 5 + [1, 2]
    with pytest.raises(DataError, match="test: has no new interaction of a user of train"):
        join_parts(TRAIN, test=named("test", [("w", "a")]))
