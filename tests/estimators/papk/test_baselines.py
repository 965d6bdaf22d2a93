from __future__ import annotations

import pytest
from tests.estimators.papk.generated import users
from tests.estimators.papk.rankers import BASELINES, learns_to_rank_new_users_and_repeats

from rankwise.estimators import GreedyPApAtKRanker, SelectPApAtKRanker


@pytest.mark.parametrize("ranker", BASELINES, ids=repr)
def test_learns_to_rank_new_users_and_repeats(ranker):
    learns_to_rank_new_users_and_repeats(ranker)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (SelectPApAtKRanker(2, inner=0), "inner must be a whole number >= 1"),
        (GreedyPApAtKRanker(2, angles=0), "angles must be a whole number >= 1"),
        (GreedyPApAtKRanker(2, max_columns=0), "max_columns must be a whole number >= 1"),
    ],
)
def test_bad_options_are_named(ranker, message):
    X, y, groups = users(5)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, groups=groups)
