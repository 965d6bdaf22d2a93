"""Tests of coverage, Gini index and novelty, with values written as arithmetic."""

from __future__ import annotations

from itertools import permutations, product
from math import log2

import numpy as np
import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of

from rankwise.tasks.recommendation import Scores, catalog_metrics, evaluate, measure_of

TRAIN = pairs_of([[0, 1], [0, 1], [0, 2], [0, 3]], n_items=5)  # 4, 2, 1, 1 and 0 of 8


def scores(matrix):
    return Scores(lambda users: torch.eye(len(matrix))[users], torch.tensor(matrix).float().T)


def measured(matrix, k, seen=None, train=TRAIN):
    return catalog_metrics(scores(matrix), torch.arange(len(matrix)), seen, train, k)


def test_values_by_hand():
    found = measured([[5, 4, 3, 2, 1], [5, 3, 4, 2, 1], [1, 2, 3, 4, 5]], k=2)
    # Items 0, 1; 0, 2; 4, 3: two of item 0, one of each other.
    assert found["coverage@2"] == pytest.approx(5 / 5)
    counts = (1, 1, 1, 1, 2)
    assert found["gini@2"] == pytest.approx(
        sum((2 * j - 6) * c for j, c in enumerate(counts, 1)) / (5 * 6)
    )
    assert found["gini@2"] == pytest.approx((-4 - 2 + 0 + 2 + 4 * 2) / 30)
    # An item that nobody has counts as if it had one interaction.
    of_users = [
        (-log2(4 / 8) - log2(2 / 8)) / 2,
        (-log2(4 / 8) - log2(1 / 8)) / 2,
        (-log2(1 / 8) - log2(1 / 8)) / 2,
    ]
    assert found["novelty@2"] == pytest.approx(sum(of_users) / 3)


def test_the_same_for_everybody():
    found = measured([[5, 4, 3, 2, 1]] * 3, k=1)
    assert found == pytest.approx(
        {"coverage@1": 1 / 5, "gini@1": (2 * 5 - 6) * 3 / (5 * 3), "novelty@1": -log2(4 / 8)}
    )


def test_all_alike_have_a_gini_index_of_0():
    found = measured((10 * np.eye(5)).tolist(), k=1)
    assert found["gini@1"] == pytest.approx(0)
    assert found["coverage@1"] == 1


def test_what_was_seen_is_not_recommended():
    seen = pairs_of([[0], [0, 1, 2, 3]], n_items=5)
    found = measured([[5, 4, 3, 2, 1], [5, 4, 3, 2, 1]], k=2, seen=seen)
    # Items 1 and 2 for the first user, only item 4 for the second.
    assert found["coverage@2"] == pytest.approx(3 / 5)
    assert found["gini@2"] == pytest.approx((0 * 1 + 2 * 1 + 4 * 1) / (5 * 3))
    first = (-log2(2 / 8) - log2(1 / 8)) / 2
    assert found["novelty@2"] == pytest.approx((first - log2(1 / 8)) / 2)


def test_who_has_seen_everything_gets_nothing():
    seen = pairs_of([[0, 1, 2, 3, 4], []], n_items=5)
    found = measured([[5, 4, 3, 2, 1], [5, 4, 3, 2, 1]], k=1, seen=seen)
    assert found["novelty@1"] == pytest.approx(-log2(4 / 8))
    assert found["coverage@1"] == pytest.approx(1 / 5)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9])
def test_ties_are_the_mean_over_their_orders(k):
    matrix = np.array([[3, 2, 2, 2, 1], [1, 1, 1, 1, 1]], dtype=float)
    orders = list(permutations(range(5)))
    every = [[tuple(np.lexsort((np.array(order), -row))[:k]) for order in orders] for row in matrix]
    bits = [-log2(4 / 8), -log2(2 / 8), -log2(1 / 8), -log2(1 / 8), -log2(1 / 8)]
    covered = np.mean([len({*one, *two}) / 5 for one, two in product(*every)])
    counts = sorted(sum(np.mean([item in o for o in each]) for each in every) for item in range(5))
    novelty = np.mean([np.mean([np.mean([bits[i] for i in o]) for o in each]) for each in every])
    found = measured(matrix.tolist(), k)
    gini = sum((2 * j - 6) * c for j, c in enumerate(counts, 1)) / (5 * sum(counts))
    expected = {f"coverage@{k}": covered, f"gini@{k}": gini, f"novelty@{k}": novelty}
    assert found == pytest.approx(expected)


def test_the_order_of_the_items_does_not_matter():
    rng = np.random.default_rng(0)
    matrix, order = rng.integers(0, 3, (6, 5)).astype(float), rng.permutation(5)
    place = np.argsort(order)
    rows = [[0, 1], [0, 1], [0, 2], [0, 3]]
    moved = pairs_of([place[row] for row in rows], n_items=5)
    assert measured(matrix[:, order], 2, train=moved) == pytest.approx(measured(matrix, 2))


def test_an_evaluation_has_them_at_its_largest_k():
    wanted = pairs_of([[1], [], [2]], n_items=5)
    matrix = [[5, 4, 3, 2, 1], [1, 2, 3, 4, 5], [5, 4, 3, 2, 1]]
    asked = [measure_of(name) for name in ("ndcg@1", "hit@2", "mrr")]
    found = evaluate(scores(matrix), wanted, None, asked, TRAIN).catalog
    # Only of users who have something to find: items 0 and 1 twice each.
    assert found["coverage@2"] == pytest.approx(2 / 5)
    assert set(found) == {"coverage@2", "gini@2", "novelty@2"}
    assert evaluate(scores(matrix), wanted, None, asked).catalog == {}
    alone = evaluate(scores(matrix), wanted, None, [measure_of("mrr")], TRAIN).catalog
    assert set(alone) == {"coverage@10", "gini@10", "novelty@10"}
