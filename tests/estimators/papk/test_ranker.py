from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests.estimators.papk.generated import users
from tests.estimators.papk.rankers import OURS, SHORT, learns_to_rank_new_users_and_repeats

from rankwise.estimators import PApAtKRanker


@pytest.mark.parametrize("ranker", OURS, ids=repr)
def test_learns_to_rank_new_users_and_repeats(ranker):
    learns_to_rank_new_users_and_repeats(ranker)


def test_weight_two_is_the_row_twice():
    X, y, groups = users(12)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    ranker = PApAtKRanker(3, "ts", validation_fraction=0, max_iter=30)
    with_weights = clone(ranker).fit(X, y, groups=groups, sample_weight=weight)
    twice = clone(ranker).fit(X[again], y[again], groups=groups[again])
    np.testing.assert_allclose(with_weights.coef_, twice.coef_, atol=1e-10)


def test_by_users_in_turn_and_inside_a_ball():
    X, y, groups = users(60)
    ranker = PApAtKRanker(4, "avg", 0.5, radius=0.2, batch_users=8, standardize=False, **SHORT)
    ranker.fit(X, y, groups=groups)
    assert np.linalg.norm(ranker.coef_) <= 0.2 * (1 + 1e-12)
    new_X, new_y, new_groups = users(40, seed=1)
    assert ranker.score(new_X, new_y, groups=new_groups) > 0.6


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (PApAtKRanker(2, "mean"), "surrogate must be one of 'avg', 'max', 'ts', 'ramp'"),
        (PApAtKRanker(2, eta=0), "eta must be a finite number > 0, got 0"),
        (PApAtKRanker(2, lam=-1), "lam must be a number >= 0, got -1"),
        (PApAtKRanker(2, radius=-1.0), "radius must be a finite number > 0"),
        (PApAtKRanker(2, batch_users=0), "batch_users must be a whole number >= 1"),
        (PApAtKRanker(2, start="here"), "start must be one of 'zero', 'log_loss'"),
    ],
)
def test_bad_options_are_named(ranker, message):
    X, y, groups = users(5)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, groups=groups)
