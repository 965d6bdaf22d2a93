"""Tests of the interactions made ready for training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of, settings, two_kinds

from rankwise.data import DataError
from rankwise.data.interactions import FeatureTable
from rankwise.tasks.recommendation import UsageError, prepared
from rankwise.tasks.recommendation.problem import codes_of

PAIRS = pairs_of([[3, 1], [], [0, 3, 2]], n_items=4)


def test_items_by_user_sorted():
    assert PAIRS.items.tolist() == [1, 3, 0, 2, 3]
    assert PAIRS.counts.tolist() == [2, 0, 3]
    assert (len(PAIRS), PAIRS.n_users) == (5, 3)
    assert PAIRS.users.tolist() == [0, 0, 2, 2, 2]


def test_pairs_of_some_users_in_any_order():
    rows, places = PAIRS.of_users(torch.tensor([2, 1, 0, 2]))
    assert rows.tolist() == [0, 0, 0, 2, 2, 3, 3, 3]
    assert PAIRS.items[places].tolist() == [0, 2, 3, 1, 3, 0, 2, 3]
    assert PAIRS.cells(torch.tensor([0, 2])).tolist() == [1, 3, 4, 6, 7]


def test_padded():
    places, there = PAIRS.padded(torch.tensor([0, 1, 2]))
    assert there.tolist() == [[True, True, False], [False] * 3, [True] * 3]
    assert PAIRS.items[places][there].tolist() == [1, 3, 0, 2, 3]
    assert PAIRS.padded(torch.tensor([], dtype=torch.long))[0].shape == (0, 0)


def test_who_has_what():
    found = PAIRS.have(torch.tensor([2, 0, 1]), torch.tensor([3, 0, 1]))
    assert found.tolist() == [[True, True, False], [True, False, True], [False] * 3]
    nobody = pairs_of([[], []], n_items=2)
    assert not nobody.have(torch.tensor([0, 1]), torch.tensor([0, 1])).any()


def test_neighbors_are_no_different():
    for users in ([0, 1, 2], [1, 2], [2], [1]):
        rows, places = PAIRS.of_users(torch.tensor(users))
        expected = [(n, i) for n, u in enumerate(users) for i in [[1, 3], [], [0, 2, 3]][u]]
        found = zip(rows.tolist(), PAIRS.items[places].tolist(), strict=True)
        assert list(found) == expected
        assert PAIRS.cells(torch.tensor(users)).tolist() == [4 * n + i for n, i in expected]


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
    assert counts["users without test positives"] == 20 - len(tested) > 0


def test_users_who_cannot_be_split_are_counted():
    few = ~((DATA.user == 3) & (np.cumsum(DATA.user == 3) > 2))  # user 3 keeps two of six
    columns = {name: getattr(DATA, name)[few] for name in ("user", "item", "value", "time")}
    problem = prepared(replace(DATA, **columns), settings(validation=2, test=2))
    assert problem.undivided == 1
    assert (problem.part[problem.user == 3] == 0).all()
    with pytest.raises(DataError, match=r"no user has enough.*the most are 6"):
        prepared(DATA, settings(validation=4, test=4))


def test_parts_without_positives():
    with pytest.raises(
        DataError,
        match="the training part has no positive: no rating is 9 or more; lower --threshold",
    ):
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


def test_unknown_ids_are_one_line():
    assert codes_of(["b", "a", "b"], ("a", "b"), "item", "new.csv").tolist() == [1, 0, 1]
    with pytest.raises(DataError) as error:
        codes_of(["user1", "a", "x", "x"], ("user11", "a"), "user", "new.csv")
    assert str(error.value) == (
        "new.csv: 2 unknown user ids: 'user1', 'x'; the model knows the 2 users it was trained on; "
        "did you mean 'user11'?"
    )


def test_validation_of_a_sample_of_users():
    chosen = settings(validation_users=5)
    problem = prepared(two_kinds(), chosen)
    every, found = problem.pairs((1,)), problem.validation(chosen)
    users = (found.counts > 0).nonzero().squeeze(1)
    assert len(users) == 5
    for user in users.tolist():
        place = slice(every.start[user], every.start[user + 1])
        assert found.items[found.start[user] : found.start[user + 1]].equal(every.items[place])
    assert problem.validation(chosen).start.equal(found.start)  # the same in every epoch
    assert problem.validation(chosen.replace(seed=1)).start.tolist() != found.start.tolist()
    assert problem.remarks == (
        f"validation on 5 of {int((every.counts > 0).sum())} users, drawn at random "
        "(--validation-users)",
    )


def test_all_users_are_validated_unless_there_are_very_many(monkeypatch):
    problem = prepared(two_kinds(), settings())
    assert len(problem.validation(settings())) == len(problem.pairs((1,)))
    assert problem.remarks == ()
    monkeypatch.setattr("rankwise.tasks.recommendation.problem.WHOLE", 20 * 16 - 1)
    monkeypatch.setattr("rankwise.tasks.recommendation.problem._SAMPLE", 7)
    assert int((problem.validation(settings()).counts > 0).sum()) == 7
