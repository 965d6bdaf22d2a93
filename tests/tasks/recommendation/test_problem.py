from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.tasks.recommendation.cases import settings, two_kinds

from rankwise.data import DataError
from rankwise.data.interactions import FeatureTable
from rankwise.tasks.recommendation import UsageError, prepared

DATA = two_kinds()


def test_low_ratings_are_seen_but_no_positives():
    chosen = settings(threshold=4, validation=1, test=1, split="time")
    problem = prepared(DATA, chosen)
    assert problem.positive.tolist() == (DATA.value >= 4).tolist()
    seen, wanted = problem.pairs((0,), positive=False), problem.pairs((0,))
    assert len(seen) == 20 * 4
    assert len(wanted) == int((problem.positive & (problem.part == 0)).sum()) < len(seen)
    counts = problem.counts()
    assert counts["users"] == 20
    assert counts["interactions"] == len(DATA)
    tested = set(problem.user[problem.positive & (problem.part == 2)].tolist())
    assert counts["users without a positive in the test"] == 20 - len(tested) > 0


def test_users_who_cannot_be_split_are_counted():
    few = ~((DATA.user == 3) & (np.cumsum(DATA.user == 3) > 2))  # user 3 keeps two of six
    columns = {name: getattr(DATA, name)[few] for name in ("user", "item", "value", "time")}
    problem = prepared(replace(DATA, **columns), settings(validation=2, test=2))
    assert problem.undivided == 1
    assert (problem.part[problem.user == 3] == 0).all()
    with pytest.raises(DataError, match=r"no user has enough.*the most are 6"):
        prepared(DATA, settings(validation=4, test=4))


def test_parts_without_positives():
    with pytest.raises(DataError, match="the training part has no positive from the rating 9 on"):
        prepared(DATA, settings(threshold=9))


def test_time_that_is_not_there():
    with pytest.raises(DataError, match="has no time to split by"):
        prepared(replace(DATA, time=None), settings(split="time"))


def test_shares_that_make_no_sense():
    with pytest.raises(UsageError, match="test must be a share"):
        prepared(DATA, settings(test=2.5))


def test_features_are_for_towers():
    table = FeatureTable(("age",), np.ones((20, 1), dtype=np.float32), 3, ())
    with pytest.raises(UsageError, match="features need --model two_tower"):
        prepared(DATA, settings(), table)
    problem = prepared(DATA, settings(model="two_tower"), table)
    assert problem.user_features is not None
    assert problem.counts()["users without features"] == 3


def test_the_fingerprint_changes_with_the_split():
    first, second = (prepared(DATA, settings(seed=seed)) for seed in (0, 1))
    assert first.fingerprint() != second.fingerprint()
    assert first.fingerprint() == prepared(DATA, settings()).fingerprint()
