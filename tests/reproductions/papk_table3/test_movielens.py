from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.reproductions.papk_table3.generated import generated_ratings

from rankwise.data import DataError
from reproductions.papk_table3.instances import crossed, split_rows
from reproductions.papk_table3.measure import read_instances
from reproductions.papk_table3.movielens import movielens


def test_first_ratings_give_the_factors_and_later_ones_the_rows():
    ratings = generated_ratings(items=80)
    first, least = 3, 14
    early = set()
    for user in range(14):
        own = np.flatnonzero(ratings.user == user)
        order = own[np.argsort(ratings.time[own])]
        early |= set(ratings.item[order[:first]].tolist())
    sizes = {}
    for user in range(14):
        own = np.flatnonzero(ratings.user == user)
        later = own[np.argsort(ratings.time[own])][first:]
        kept = [row for row in later if ratings.item[row] in early]
        sizes[user] = len(kept)
    found = movielens(ratings, first=first, factors=2, least=least)
    kept = [user for user, size in sizes.items() if size >= least]
    assert 0 < len(kept) < 14
    assert np.bincount(found.users).tolist() == [sizes[user] for user in kept]
    positives = [
        sum(
            ratings.value[row] == 5 and ratings.item[row] in early
            for row in sorted(np.flatnonzero(ratings.user == u), key=lambda r: ratings.time[r])[3:]
        )
        for u in kept
    ]
    assert np.bincount(found.users, found.y).tolist() == positives
    assert len(early) < 80
    assert found.X.shape[1] == 6
    np.testing.assert_allclose(found.X[:, 4:], found.X[:, :2] * found.X[:, 2:4])
    assert (found.X >= 0).all()


def test_the_rows_of_a_user_share_their_user_features():
    found = movielens(generated_ratings(), first=6, factors=2, least=12)
    for user in range(found.users.max() + 1):
        assert len(np.unique(found.X[found.users == user, :2], axis=0)) == 1


def test_both_layouts_read_alike(tmp_path: Path):
    ratings = generated_ratings()
    # Names that sort as the numbers do, in both files.
    rows = zip(ratings.user + 1, ratings.item + 1, ratings.value, ratings.time, strict=True)
    lines = [f"{u}\t{i}\t{int(v)}\t{int(t)}" for u, i, v, t in rows]
    (tmp_path / "u.data").write_text("\n".join(lines) + "\n")
    header = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
    (tmp_path / "ml-100k.inter").write_text(header + "\n".join(lines) + "\n")
    with pytest.raises(DataError, match="no user has 20 ratings after the first 20"):
        read_instances(tmp_path / "u.data", 0)
    from rankwise.data.interactions import read_interactions

    one, other = (
        movielens(read_interactions(tmp_path / name), first=6, factors=2, least=10)
        for name in ("u.data", "ml-100k.inter")
    )
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.y, other.y)


def test_ratings_without_times_have_no_first_ones():
    with pytest.raises(DataError, match="has no times"):
        movielens(replace(generated_ratings(), time=None))


def test_splits_are_shares_of_every_user_and_follow_the_seed():
    users = np.repeat([0, 1, 2], [20, 25, 101])
    part = split_rows(users, 3)
    for user, size in enumerate((20, 25, 101)):
        counts = np.bincount(part[users == user], minlength=3)
        assert abs(counts - np.array([0.6, 0.2, 0.2]) * size).max() <= 1
    np.testing.assert_array_equal(part, split_rows(users, 3))
    assert (part != split_rows(users, 4)).any()


def test_crossed_is_user_item_and_product():
    assert crossed(np.array([[2.0, 3.0]]), np.array([[5.0, 7.0]])).tolist() == [
        [2, 3, 5, 7, 10, 21]
    ]
