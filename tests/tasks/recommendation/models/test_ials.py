"""Tests of iALS, against the normal equations of one row at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of

from rankwise.tasks.recommendation import Settings
from rankwise.tasks.recommendation.models import ials
from rankwise.tasks.recommendation.models.ials import IALS, ITERATIONS, solved

ROWS = [[0, 1, 2], [], [1, 2, 4], [0, 4], [2], [1, 4, 0, 2]]  # nobody has item 3
PAIRS = pairs_of(ROWS, n_items=5)
WEIGHT, STRENGTH = 0.3, 0.05


def settings_of(**options):
    given = dict(unobserved_weight=WEIGHT, regularization=STRENGTH, dimension=2) | options
    return Settings(model="ials", **given)


def regression(row, others, exponent):
    """The least squares over the whole catalog, as one weighted regression with all its rows."""
    n = len(others)
    inputs = [others[i] for i in row] + [np.sqrt(WEIGHT) * other for other in others]
    outputs = [1.0] * len(row) + [0.0] * n
    ridge = STRENGTH * (len(row) + WEIGHT * n) ** exponent
    inputs += list(np.sqrt(ridge) * np.eye(others.shape[1]))
    outputs += [0.0] * others.shape[1]
    return np.linalg.lstsq(np.array(inputs), np.array(outputs), rcond=None)[0]


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("entries", [1, 1 << 22])
def test_every_row_solves_its_normal_equations(monkeypatch, exponent, entries):
    monkeypatch.setattr(ials, "_ENTRIES", entries)
    others = np.random.default_rng(0).normal(size=(5, 2))
    chosen = settings_of(frequency_exponent=exponent)
    found = solved(PAIRS, torch.from_numpy(others), chosen)
    expected = [regression(row, others, exponent) for row in ROWS]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)
    assert (found[1] == 0).all()


def loss(users, items, exponent=1.0):
    """The loss of the docstring, one pair at a time."""
    scores = users @ items.T
    total = WEIGHT * (scores**2).sum()
    for user, row in enumerate(ROWS):
        total += sum((scores[user, item] - 1) ** 2 for item in row)
        total += STRENGTH * (len(row) + WEIGHT * 5) ** exponent * (users[user] ** 2).sum()
    for item in range(5):
        degree = sum(item in row for row in ROWS)
        total += STRENGTH * (degree + WEIGHT * 6) ** exponent * (items[item] ** 2).sum()
    return float(total)


def test_every_iteration_lowers_the_loss():
    found = list(IALS.fits(PAIRS, settings_of()))
    assert [chosen.iterations for chosen, _ in found] == [*ITERATIONS]
    values = [loss(model.users.double(), model.items.double()) for _, model in found]
    assert values == sorted(values, reverse=True)
    assert values[-1] < loss(torch.zeros(6, 2), torch.zeros(5, 2)) + len(PAIRS)


def test_at_the_end_no_side_can_be_improved():
    ((_, model),) = IALS.fits(PAIRS, settings_of(iterations=400))
    again = solved(PAIRS, model.items.double(), settings_of())
    torch.testing.assert_close(again, model.users.double(), atol=1e-4, rtol=0)


def test_given_iterations_are_the_only_ones_and_those_on_the_way():
    ((chosen, model),) = IALS.fits(PAIRS, settings_of(iterations=4))
    assert chosen.iterations == 4
    (_, second), *_ = (pair for pair in IALS.fits(PAIRS, settings_of()) if pair[0].iterations == 4)
    assert torch.equal(model.users, second.users)
    other = next(IALS.fits(PAIRS, settings_of(iterations=4, seed=1)))[1]
    assert not torch.equal(model.users, other.users)


def test_scores_are_products():
    ((_, model),) = IALS.fits(PAIRS, settings_of(iterations=2))
    ((_, found),) = model.scores().blocks(torch.arange(6), None)
    torch.testing.assert_close(found, model.users @ model.items.T)
