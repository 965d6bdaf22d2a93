"""Tied items in objectives of ranks, against the mean over all orders of the tied items."""

from __future__ import annotations

import itertools

import pytest
import torch

from rankwise.baselines.listwise import LambdaLoss
from rankwise.objectives import AveragePrecision, StableAP
from rankwise.objectives.ndcg import NDCG
from rankwise.pairs import Sigmoid

SCORES = torch.tensor([1.0, 0.0, 1.0, 1.0, 2.0, 0.0], dtype=torch.float64)
RELEVANCE = torch.tensor([2, 0, 0, 1, 0, 3])


def orders():
    """Every order of the items by falling score, tied ones in all their orders."""
    for order in itertools.permutations(range(len(SCORES))):
        ranked = SCORES[list(order)]
        if bool((ranked[1:] <= ranked[:-1]).all()):
            yield torch.tensor(order)


@pytest.mark.parametrize("k", range(1, 7))
def test_ndcg_at_k_is_the_mean_over_the_orders_of_tied_items(k):
    loss = NDCG(k, Sigmoid(2.0))
    values = []
    for order in orders():
        counted = torch.zeros(len(SCORES), dtype=torch.float64)
        counted[order[:k]] = 1
        gains = 2.0**RELEVANCE - 1
        above = torch.sigmoid(-2 * (SCORES[:, None] - SCORES)).fill_diagonal_(0).sum(1)
        best = gains.sort(descending=True).values[:k]
        best = (best / torch.log2(torch.arange(len(best)) + 2.0)).sum()
        values.append(1 - (counted * gains / torch.log2(2 + above)).sum() / best)
    expected = torch.stack(values).mean()
    torch.testing.assert_close(loss(SCORES, RELEVANCE), expected, rtol=1e-6, atol=1e-7)


def lambda_rank_in_order(order, k):
    """LambdaRank with ranks by an order."""
    rank = torch.empty(len(SCORES), dtype=torch.float64)
    rank[order] = torch.arange(1.0, len(SCORES) + 1, dtype=torch.float64)
    gains = 2.0**RELEVANCE - 1
    discount = (1 / torch.log2(1 + rank)) * (rank <= (k or len(SCORES)))
    best = gains.sort(descending=True).values[:k]
    gains = gains / (best / torch.log2(torch.arange(len(best)) + 2.0)).sum()
    total = torch.zeros((), dtype=torch.float64)
    for i, j in itertools.permutations(range(len(SCORES)), 2):
        if RELEVANCE[i] > RELEVANCE[j]:
            worth = (discount[i] - discount[j]).abs() * (gains[i] - gains[j])
            total = total + worth * torch.log2(1 + torch.exp(SCORES[j] - SCORES[i]))
    return total


@pytest.mark.parametrize("k", [None, 1, 2, 3, 4, 5])
def test_lambda_rank_is_the_mean_over_the_orders_of_tied_items(k):
    expected = torch.stack([lambda_rank_in_order(order, k) for order in orders()]).mean()
    found = LambdaLoss(k, mu=0.0)(SCORES, RELEVANCE)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("loss", [LambdaLoss(), LambdaLoss(mu=0.0), LambdaLoss(3, mu=0.0)], ids=str)
def test_a_list_of_tied_items_has_a_gradient(loss):
    scores = torch.zeros(6, requires_grad=True)
    loss(scores, RELEVANCE).backward()
    assert scores.grad[5] < scores.grad[0] < 0 < scores.grad[1]


@pytest.mark.parametrize("make", [AveragePrecision, StableAP], ids=lambda make: make.__name__)
def test_the_annealed_gain_counts_an_item_of_weight_two_twice(make):
    generator = torch.Generator().manual_seed(0)
    for _ in range(30):
        scores = torch.randn(20, generator=generator, dtype=torch.float64)
        target = torch.arange(20) % 3 == 0
        weight = torch.randint(1, 4, (20,), generator=generator)
        copies = torch.repeat_interleave(torch.arange(20), weight)
        found = make(0.1, score_scale=1.0)(scores, target, weight=weight.double())
        expected = make(0.1, score_scale=1.0)(scores[copies], target[copies])
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-7)
