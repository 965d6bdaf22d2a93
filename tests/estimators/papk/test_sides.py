from __future__ import annotations

import numpy as np
import pytest
from tests.estimators.papk.generated import part

from rankwise.estimators.papk.sides import padded, sides_of


def example(scale=None, settings=3, seed=0):
    """Users, padded scores (rounded: ties), and the rows of each user's negatives."""
    rows = part(15, seed=seed)
    sides = sides_of(rows.target > 0, rows.groups)
    scores = np.random.default_rng(seed).normal(size=(settings, len(rows)))
    if scale is not None:
        scores = np.round(scores * scale)
    own = [np.flatnonzero((rows.groups == u) & (rows.target == 0)) for u in range(15)]
    return sides, padded(scores), own


def test_only_users_with_both_classes_are_there():
    target = np.array([1, 0, 0, 0, 0, 1, 1, 1, 0]) > 0
    groups = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3])
    sides = sides_of(target, groups)
    assert sides.number == 2
    assert sides.positives.rows.tolist() == [0, 7]
    assert sides.negatives.rows.tolist() == [1, 2, 8]
    assert sides.negatives.sizes.tolist() == [2, 1]


@pytest.mark.parametrize("count", [1, 5, 40, 80])
def test_the_top_is_that_of_every_user_and_setting(count):
    sides, scores, own = example()
    top = sides.negatives.top(scores, count)
    values = sides.negatives.top_values(scores, count)
    for setting in range(3):
        for user, rows in enumerate(own):
            expected = np.sort(scores[setting, rows])[::-1]
            taken = min(count, len(rows))
            np.testing.assert_array_equal(top.values[:taken, setting, user], expected[:taken])
            assert (top.values[taken:, setting, user] == -np.inf).all()
            found = scores[setting, top.rows[:, setting, user]]
            np.testing.assert_array_equal(found, top.values[:, setting, user])
            after = expected[count] if len(rows) > count else -np.inf
            assert top.next[setting, user] == after
            np.testing.assert_array_equal(
                np.sort(values[:, setting, user]), np.sort(top.values[:, setting, user])
            )


def test_sums_and_the_same_for_all_of_a_user():
    sides, scores, own = example()
    total, out = sides.negatives.sums(scores), np.zeros_like(scores)
    sides.negatives.fill(out, total)
    for user, rows in enumerate(own):
        np.testing.assert_allclose(total[:, user], scores[:, rows].sum(1))
        np.testing.assert_array_equal(out[:, rows], total[:, [user]].repeat(len(rows), axis=1))
    assert (out != 0).sum() == 3 * sum(map(len, own))


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("scale", [None, 1.0, 0.0])
def test_equal_scores_share_what_their_ranks_get(scale, inside):
    sides, scores, own = example(scale)
    ranks = np.arange(4)[:, None, None]
    by_rank = np.broadcast_to((4.0 - ranks) if inside else 1.0 + 0 * ranks, (4, 3, 15)).copy()
    out = np.zeros_like(scores)
    top = sides.negatives.top(scores, 4)
    sides.negatives.put(out, scores, top, by_rank, inside=inside)
    for setting in range(3):
        for rows in own:
            values = scores[setting, rows]
            order = np.argsort(-values, kind="stable")
            given = np.zeros(len(rows))
            given[order[:4]] = by_rank[: len(rows), 0, 0]
            expected = [given[values == value].mean() for value in values]
            np.testing.assert_allclose(out[setting, rows], expected)


def test_what_lies_beyond_the_ranks_is_shared_too():
    sides, scores, own = example(0.0)  # all scores are equal
    out = np.full_like(scores, 2.0)
    top = sides.negatives.top(scores, 4)
    beyond = np.full((3, 15), 2.0)
    sides.negatives.put(out, scores, top, np.zeros((4, 3, 15)), beyond=beyond)
    for rows in own:
        np.testing.assert_allclose(out[:, rows], 2 * (len(rows) - 4) / len(rows))
