from __future__ import annotations

import math

import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of

from rankwise.tasks.recommendation import Scores, evaluate, measure_of, popularity

FLAT = Scores(lambda users: torch.ones(len(users), 1), torch.arange(5.0).unsqueeze(1))


def test_who_has_nothing_to_find_is_counted_and_left_out():
    found = evaluate(FLAT, pairs_of([[4], [], [0]], 5), None, [measure_of("hit@1")])
    assert found.values["hit@1"][[0, 2]].tolist() == [1, 0]
    assert found.values["hit@1"][1].isnan()
    assert found.without_positives == 1
    mean = found.means()["hit@1"]
    assert (mean.value, mean.n) == (0.5, 2)
    assert mean.standard_error == pytest.approx(math.sqrt(0.5) / math.sqrt(2))
    assert found.notes() == ["1 user has nothing to find there: left out."]


def test_who_has_few_negatives_is_counted_and_stays():
    wanted, seen = pairs_of([[4], [0]], 5), pairs_of([[0, 1, 2], []], 5)
    found = evaluate(FLAT, wanted, seen, [measure_of("pap@3")])
    assert found.few_negatives == 1
    assert found.values["pap@3"].tolist() == [1, 0]
    assert "1 user has fewer than 3 unseen items" in found.notes()[0]


def test_who_has_no_negatives_at_all_is_not_defined():
    found = evaluate(FLAT, pairs_of([[4]], 5), pairs_of([[0, 1, 2, 3]], 5), [measure_of("ndcg@2")])
    assert found.values["ndcg@2"].isnan().all()
    assert (found.without_negatives, found.few_negatives) == (1, 0)
    assert found.notes() == [
        "1 user has no unseen items except their positives: left out.",
        "Nobody is left: no metric says anything here.",
    ]


def test_popularity_is_the_number_of_users():
    train = pairs_of([[0, 2], [2], [2, 1]], 4)
    scores = popularity(train)
    assert scores.items.squeeze(1).tolist() == [1, 1, 3, 0]
    assert scores.users(torch.tensor([1, 2])).tolist() == [[1], [1]]
