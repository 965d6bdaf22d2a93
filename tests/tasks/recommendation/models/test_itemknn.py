"""Tests of item-based neighbors, against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of

from rankwise.tasks.recommendation import Settings
from rankwise.tasks.recommendation.models.itemknn import ItemKNN, common_users

RNG = np.random.default_rng(0)
ROWS = [sorted(RNG.choice(12, RNG.integers(0, 7), replace=False).tolist()) for _ in range(30)]
PAIRS = pairs_of(ROWS, n_items=14)  # the last two items have no user
USERS = [{u for u, row in enumerate(ROWS) if item in row} for item in range(14)]


def similarity(i, j, shrinkage):
    common = len(USERS[i] & USERS[j])
    return common / (math.sqrt(len(USERS[i]) * len(USERS[j])) + shrinkage) if common else 0.0


def fitted(neighbors, shrinkage):
    chosen = Settings(model="itemknn", neighbors=neighbors, shrinkage=shrinkage)
    ((_, model),) = ItemKNN.fits(PAIRS, chosen)
    return model


@pytest.mark.parametrize("block", [1, 30, 1 << 21])
def test_common_users_are_counted(monkeypatch, block):
    monkeypatch.setattr("rankwise.tasks.recommendation.models.itemknn.BLOCK", block)
    found = torch.cat([counts for _, counts in common_users(PAIRS)])
    expected = [[len(one & other) for other in USERS] for one in USERS]
    assert found.tolist() == expected


@pytest.mark.parametrize("shrinkage", [0.0, 2.5])
@pytest.mark.parametrize("neighbors", [3, 99])
def test_neighbors_are_the_most_similar(neighbors, shrinkage):
    model = fitted(neighbors, shrinkage)
    assert model.neighbors.shape == (14, min(neighbors, 13))
    for i in range(14):
        every = sorted((similarity(i, j, shrinkage) for j in range(14) if j != i), reverse=True)
        found = model.similarities[i].tolist()
        assert found == pytest.approx(every[: len(found)], abs=1e-6)
        for j, value in zip(model.neighbors[i].tolist(), found, strict=True):
            assert i != j
            assert similarity(i, j, shrinkage) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("shrinkage", [0.0, 2.5])
@pytest.mark.parametrize("neighbors", [3, 99])
def test_scores_are_sums_over_the_neighbors_that_a_user_has(neighbors, shrinkage):
    model = fitted(neighbors, shrinkage)
    ((_, found),) = model.scores().blocks(torch.arange(30), None)
    for user, row in enumerate(ROWS):
        for i in range(14):
            near = model.neighbors[i].tolist()
            expected = sum(similarity(i, j, shrinkage) for j in row if j in near)
            assert found[user, i].item() == pytest.approx(expected, abs=1e-5)


def test_blocks_of_users_in_any_order():
    scores = fitted(4, 1.0).scores()
    ((_, every),) = scores.blocks(torch.arange(30), None)
    every = every.clone()
    ((_, some),) = scores.blocks(torch.tensor([7, 2, 29]), None)
    assert torch.equal(some, every[[7, 2, 29]])
