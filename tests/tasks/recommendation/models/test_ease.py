"""Tests of EASE, against the formula of the paper written as loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of

from rankwise.tasks.recommendation import Settings, UsageError
from rankwise.tasks.recommendation.models import ease
from rankwise.tasks.recommendation.models.ease import EASE

ROWS = [[0, 1, 2], [], [1, 2, 4], [0, 4], [2], [1, 4]]  # nobody has item 3
PAIRS = pairs_of(ROWS, n_items=5)


def every_score(model):
    ((_, found),) = model.scores().blocks(torch.arange(len(ROWS)), None)
    return found


@pytest.mark.parametrize("strength", [0.5, 10.0])
def test_weights_are_those_of_the_paper(strength):
    ((chosen, model),) = EASE.fits(PAIRS, settings_of(strength))
    x = np.zeros((len(ROWS), 5))
    for user, items in enumerate(ROWS):
        for item in items:
            x[user, item] = 1
    p = np.linalg.inv(x.T @ x + strength * np.eye(5))
    expected = np.zeros((5, 5))
    for i in range(5):
        for j in range(5):
            expected[i, j] = 0 if i == j else -p[i, j] / p[j, j]
    assert chosen.regularization == strength
    np.testing.assert_allclose(model.weights.numpy(), expected, atol=1e-6)
    np.testing.assert_allclose(every_score(model).numpy(), x @ expected, atol=1e-6)


def settings_of(strength=None):
    return Settings(model="ease", regularization=strength)


def test_weights_are_the_minimum_of_the_loss():
    """No change off the diagonal makes ‖X − XB‖² + λ‖B‖² smaller: its gradient is 0 there."""
    ((_, model),) = EASE.fits(PAIRS, settings_of(2.0))
    x = torch.zeros(len(ROWS), 5, dtype=torch.float64)
    x[PAIRS.users, PAIRS.items] = 1
    b = model.weights.double().requires_grad_()
    loss = (x - x @ b).square().sum() + 2 * b.square().sum()
    (slope,) = torch.autograd.grad(loss, b)
    off = ~torch.eye(5, dtype=torch.bool)
    assert slope[off].abs().max() < 1e-5
    assert slope[~off].abs().max() > 1e-2


def test_one_strength_that_is_given_is_the_only_candidate():
    given, left_open = (
        [candidate.regularization for candidate in EASE.candidates(settings_of(strength))]
        for strength in (7.0, None)
    )
    assert given == [7]
    assert left_open == [*EASE.grid["regularization"]]


def test_the_blocks_of_items_change_nothing(monkeypatch):
    ((_, whole),) = EASE.fits(PAIRS, settings_of(1.0))
    monkeypatch.setattr("rankwise.tasks.recommendation.models.itemknn.BLOCK", 1)
    ((_, parts),) = EASE.fits(PAIRS, settings_of(1.0))
    assert torch.equal(whole.weights, parts.weights)


def test_too_many_items_are_refused(monkeypatch):
    EASE.check(18_000)
    with pytest.raises(UsageError, match=r"needs a matrix of items × items: 9 GiB for 20000 items"):
        EASE.check(20_000)
    monkeypatch.setattr(ease, "_MEMORY", 24 * 4 * 4)
    with pytest.raises(UsageError, match="use --model itemknn or ials"):
        list(EASE.fits(PAIRS, settings_of(1.0)))
