"""Tests of the start at the singular vectors of the interactions."""

from __future__ import annotations

import numpy as np
import torch
from tests.tasks.recommendation.cases import pairs_of, settings, two_kinds

from rankwise.tasks.recommendation import prepared, train
from rankwise.tasks.recommendation.network import START, Recommender
from rankwise.tasks.recommendation.spectral import singular_vectors, start_at_singular_vectors
from rankwise.tasks.recommendation.training import new_model

PAIRS = pairs_of([[0, 1], [1, 2, 3], [0, 4], [], [0, 1, 2, 3]], n_items=6)


def dense():
    """The interactions over the roots of the degrees of both sides."""
    matrix = np.zeros((5, 6))
    matrix[PAIRS.users, PAIRS.items] = 1
    rows, columns = (np.maximum(matrix.sum(axis), 1) for axis in (1, 0))
    return matrix / np.sqrt(rows[:, None] * columns)


def test_products_are_those_of_the_decomposition():
    users, items = singular_vectors(PAIRS, 3, seed=0)
    left, size, right = np.linalg.svd(dense())
    expected = (left[:, :3] * size[:3]) @ right[:3]
    np.testing.assert_allclose((users @ items.T).numpy(), expected, atol=1e-5)


def test_more_dimensions_than_items_are_zero():
    users, items = singular_vectors(PAIRS, 9, seed=0)
    assert users.shape == (5, 9)
    assert items.shape == (6, 9)
    assert (items[:, 5:] == 0).all()
    np.testing.assert_allclose((users @ items.T).numpy(), dense(), atol=1e-5)


def test_rows_have_the_length_of_the_random_start():
    torch.manual_seed(0)
    network = Recommender(5, 6, settings(dimension=4, scores="cosine"))
    before = network.users.ids.weight.clone(), network.items.ids.weight.clone()
    start_at_singular_vectors(network, PAIRS, seed=0)
    users, items = network.users.ids.weight, network.items.ids.weight
    # User 3 and item 5 have no interaction.
    torch.testing.assert_close(users[3], before[0][3])
    torch.testing.assert_close(items[5], before[1][5])
    length = (users[[0, 1, 2, 4]] - 0.1 * before[0][[0, 1, 2, 4]]).norm(dim=1)
    torch.testing.assert_close(length, torch.full((4,), START * 2))


def test_training_starts_ahead():
    """Users of two kinds are told apart before the first step, and a run repeats itself."""
    data = two_kinds(users=60, items=40, each=8)
    chosen = dict(scores="cosine", temperature=0.2, objective="softmax", negatives="auto",
                  test=1, validation=1, epochs=1)  # fmt: skip
    problem = prepared(data, settings(**chosen))
    found = {
        start: train(problem, settings(**chosen, start=start)) for start in ("random", "spectral")
    }
    assert found["spectral"].start > found["random"].start + 0.05
    again = new_model(problem, settings(**chosen, start="spectral"))
    twice = new_model(problem, settings(**chosen, start="spectral"))
    torch.testing.assert_close(again.state_dict(), twice.state_dict(), rtol=0, atol=0)
