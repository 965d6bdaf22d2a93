from math import log2

import numpy as np
import pytest
import torch
from sklearn.metrics import ndcg_score

from rankwise import metrics as m
from rankwise.metrics.dcg import best_gain

SCORES, TARGET = np.array([0.9, 0.8, 0.7, 0.6]), np.array([1, 3, 0, 2])


def test_by_hand():
    gained = 1 / log2(2) + 7 / log2(3) + 3 / log2(5)
    best = 7 / log2(2) + 3 / log2(3) + 1 / log2(4)
    assert m.ndcg(SCORES, TARGET) == pytest.approx(gained / best)
    gained, best = 1 + 3 / log2(3), 3 + 2 / log2(3)
    assert m.ndcg(SCORES, TARGET, k=2, gain="linear") == pytest.approx(gained / best)


def test_ties_share_discounts_or_put_the_lower_gain_first():
    scores, target = np.zeros(3), np.array([0, 2, 1])
    discounts = np.array([1, 1 / log2(3), 1 / log2(4)])
    best = 2 * discounts[0] + discounts[1]
    value = m.ndcg(scores, target, gain="linear")
    assert value == pytest.approx(3 * discounts.mean() / best)
    worst = m.ndcg(scores, target, gain="linear", ties="against")
    assert worst == pytest.approx((discounts[1] + 2 * discounts[2]) / best)


@pytest.mark.parametrize("k", [None, 1, 5, 100])
def test_equal_to_scikit_learn(k):
    rng = np.random.default_rng(0)
    scores, target = rng.standard_normal((20, 30)).round(1), rng.integers(0, 4, (20, 30))
    expected = ndcg_score(target, scores, k=k)
    assert m.ndcg(scores, target, k=k, gain="linear") == pytest.approx(expected, abs=1e-12)


def test_a_list_of_equal_relevance_is_defined():
    assert m.ndcg(SCORES, np.ones(4)) == pytest.approx(1)


def test_relevance_may_be_a_fraction():
    value = m.ndcg(SCORES[:2], np.array([0.5, 1.5]), gain="linear")
    assert value == pytest.approx((0.5 + 1.5 / log2(3)) / (1.5 + 0.5 / log2(3)))


def test_a_relevance_whose_gain_is_infinite():
    target = np.array([2000.0, 1, 0, 0])
    with pytest.raises(ValueError, match=r"1000 for an exponential gain, .* got 2000; gain"):
        m.ndcg(SCORES, target)
    assert m.ndcg(SCORES, target, gain="linear") == 1
    assert m.ndcg(SCORES, np.full(4, 1000.0)) == pytest.approx(1)


def test_gain_is_one_of_two():
    with pytest.raises(ValueError, match="gain must be one of"):
        m.ndcg(SCORES, TARGET, gain="cubic")


def test_best_gain_is_that_of_the_order_by_relevance_for_every_row_of_weights():
    relevance = torch.tensor([[1.0, 3, 0, 3]], dtype=torch.float64)
    weight = torch.tensor([[1.0, 1, 1, 1], [2.0, 0, 1, 1.5]], dtype=torch.float64)
    discounts = [1 / log2(1 + rank) for rank in range(1, 5)]
    all_once = 7 * (discounts[0] + discounts[1]) + discounts[2]
    # 1½ items of relevance 3, then two of 1: half of rank 2, rank 3 and half of rank 4.
    in_part = 7 * (discounts[0] + discounts[1] / 2)
    in_part += discounts[1] / 2 + discounts[2] + discounts[3] / 2
    found = best_gain(relevance, weight, "exponential", None)
    assert found.tolist() == pytest.approx([all_once, in_part])
    assert best_gain(relevance, weight, "linear", 1).tolist() == pytest.approx([3, 3])
