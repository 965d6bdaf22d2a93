"""Rows, their users and how they are split."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.papk_table3.instances import Instances, crossed, split_rows


def instances(**changed: object) -> Instances:
    given = {
        "name": "made up",
        "X": np.arange(12.0).reshape(6, 2),
        "y": np.array([True, False, False, True, True, False]),
        "users": np.array([2, 0, 2, 0, 1, 1]),
        "story": "",
    }
    return Instances(**{**given, **changed})  # type: ignore[arg-type]


def test_features_are_those_of_both_and_their_product():
    user, item = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[3.0, 4.0], [2.0, 5.0]])
    assert crossed(user, item).tolist() == [[1, 2, 3, 4, 3, 8], [0.5, -1, 2, 5, 1, -5]]


def test_some_rows_with_their_users_counted_from_zero():
    found = instances().part(np.array([True, False, True, False, True, False]))
    assert found.X.tolist() == [[0, 1], [4, 5], [8, 9]]
    assert found.target.tolist() == [1, 0, 1]
    assert found.target.dtype == np.float64
    assert found.groups is not None
    assert found.groups.tolist() == [1, 1, 0]  # users 2, 2 and 1
    assert found.weight is None


def test_size_in_words():
    many = instances(
        X=np.zeros((2_000, 7)), y=np.arange(2_000) < 1_500, users=np.arange(2_000) % 1_200
    )
    assert many.size == "2,000 instances, 1,500 positive, 1,200 users, 7 features"


def test_published_parts_are_taken_whatever_the_seed():
    parts = np.array([0, 0, 1, 1, 2, 2])
    published = instances(parts=parts)
    assert published.split(0).tolist() == published.split(1).tolist() == parts.tolist()
    drawn = instances()
    np.testing.assert_array_equal(drawn.split(3), split_rows(drawn.users, 3))


@pytest.mark.parametrize(
    ("rows", "parts"),
    [(1, (1, 0, 0)), (2, (1, 1, 0)), (3, (2, 0, 1)), (5, (3, 1, 1)), (10, (6, 2, 2)),
     (100, (60, 20, 20))],
)  # fmt: skip
def test_every_user_has_the_shares(rows, parts):
    rng = np.random.default_rng(0)
    users = rng.permutation(np.repeat(np.arange(8), rows))
    found = split_rows(users, seed=4)
    for user in range(8):
        counts = np.bincount(found[users == user], minlength=3)
        assert tuple(counts) == parts


def test_users_of_any_number_of_rows_are_near_their_shares():
    rng = np.random.default_rng(1)
    users = rng.integers(0, 40, 1_500)
    found = split_rows(users, seed=0)
    assert set(found.tolist()) == {0, 1, 2}
    for user in range(40):
        own = found[users == user]
        for part, share in enumerate((0.6, 0.2, 0.2)):
            assert abs((own == part).sum() - share * len(own)) < 1


def test_other_shares():
    users = np.zeros(8, dtype=np.int64)
    counts = np.bincount(split_rows(users, 0, shares=(0.25, 0.5)), minlength=3)
    assert counts.tolist() == [2, 4, 2]


def test_a_split_follows_from_its_seed_and_is_at_random():
    users = np.repeat(np.arange(3), 40)
    first = split_rows(users, 1)
    np.testing.assert_array_equal(split_rows(users, 1), first)
    assert (split_rows(users, 2) != first).any()
    # Not by the order of the rows, and not the same rows of every user.
    assert (np.diff(first[:40]) < 0).any()
    assert (first[:40] != first[40:80]).any()


def test_the_number_of_a_user_does_not_matter():
    users = np.repeat(np.arange(3), 10)
    np.testing.assert_array_equal(split_rows(users, 5), split_rows(1_000 * users + 7, 5))
