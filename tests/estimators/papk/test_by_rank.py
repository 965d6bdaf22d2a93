"""The closed forms against the objectives' own gradients, with and without ties."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from tests.estimators.papk.generated import part

from rankwise.estimators.papk import Users
from rankwise.estimators.papk.by_rank import average, gains, pairs, pool, precision
from rankwise.estimators.papk.gradients import PartialAUCAtK, StrictPrecisionAtK
from rankwise.estimators.papk.sides import padded, sides_of
from rankwise.metrics import pap_at_k
from rankwise.objectives import PApAtK

FORMS = {
    "avg": (partial(PApAtK, surrogate="avg"), average),
    "max": (partial(PApAtK, surrogate="max"), partial(pairs, which="lowest")),
    "ramp": (partial(PApAtK, surrogate="ramp"), partial(pairs, which="highest")),
    "ts": (partial(PApAtK, surrogate="ts"), partial(pairs, which="both")),
    "SVM-pAUC": (PartialAUCAtK, partial(pairs, which="all")),
    "SGD@k-avg": (StrictPrecisionAtK, precision),
}


def scored(ties, dtype=torch.float64, seed=0):
    torch.manual_seed(seed)
    rows = part(15, seed=seed)
    scores = torch.randn(4, len(rows), dtype=dtype)
    if ties:  # few levels, at no whole distance, so that nothing but scores is equal
        levels = torch.randn(7, dtype=dtype)
        scores = levels[torch.randint(0, 7, scores.shape)]
        scores[3] = 0
    return rows, scores


@pytest.mark.parametrize("name", list(FORMS))
@pytest.mark.parametrize("k", [1, 4, 9, 30, 60])
@pytest.mark.parametrize("ties", [False, True])
def test_the_closed_form_is_the_objectives_gradient(name, k, ties):
    make, by_rank = FORMS[name]
    rows, scores = scored(ties)
    leaf = scores.clone().requires_grad_()
    users = Users.of_part(rows)
    (expected,) = torch.autograd.grad(users.risk(make(k), leaf).sum() * users.ranked, leaf)
    found = np.zeros((4, len(rows) + 1))
    by_rank(sides_of(rows.target > 0, rows.groups), padded(scores.numpy()), found, k=k)
    # Nobody has 60 negatives beside the places that must be theirs.
    assert bool(expected.any()) == ((name, k) != ("SGD@k-avg", 60))
    np.testing.assert_allclose(found[:, :-1], expected.numpy(), atol=1e-12)


@pytest.mark.parametrize("name", list(FORMS))
def test_in_single_precision_it_is_the_same_but_for_rounding(name):
    _, by_rank = FORMS[name]
    rows, scores = scored(ties=False, dtype=torch.float32)
    sides = sides_of(rows.target > 0, rows.groups)
    both = [np.zeros((4, len(rows) + 1), dtype=kind) for kind in (np.float32, np.float64)]
    for out in both:
        by_rank(sides, padded(scores.numpy().astype(out.dtype)), out, k=5)
    np.testing.assert_allclose(both[0], both[1], atol=1e-6)


def test_kinks_have_slope_zero_as_the_hinge_has():
    rows, scores = scored(ties=False)
    scores = (2 * scores).round() / 2
    users = Users.of_part(rows)
    sides = sides_of(rows.target > 0, rows.groups)
    for name in ("avg", "max", "ramp", "ts", "SVM-pAUC"):
        make, by_rank = FORMS[name]
        leaf = scores.clone().requires_grad_()
        (expected,) = torch.autograd.grad(users.risk(make(4), leaf).sum() * users.ranked, leaf)
        found = np.zeros((4, len(rows) + 1))
        by_rank(sides, padded(scores.numpy()), found, k=4)
        np.testing.assert_allclose(found[:, :-1], expected.numpy(), atol=1e-12)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_gains_are_pap_at_k_of_every_user(ties, k):
    rows, scores = scored(ties)
    sides = sides_of(rows.target > 0, rows.groups)
    found = gains(sides, padded(scores.numpy()), k)
    for setting in range(4):
        for user in range(15):
            own = rows.groups == user
            expected = _pap(scores[setting].numpy()[own], rows.target[own] > 0, k)
            assert found[setting, user] == pytest.approx(expected)


def _pap(scores, target, k):
    """Eq. 1 written out, tied pairs against the ranking."""
    above = np.sort(scores[target])[::-1][:k]
    below = np.sort(scores[~target])[::-1][:k]
    return 1 - (above[:, None] <= below).mean()


def test_gains_are_those_of_the_metric():
    rows, scores = scored(ties=True)
    found = gains(sides_of(rows.target > 0, rows.groups), padded(scores.numpy()), 4).mean(1)
    for row, value in zip(scores.numpy(), found, strict=True):
        expected = pap_at_k(row, rows.target, k=4, groups=rows.groups, ties="against")
        assert value == pytest.approx(float(expected))


def test_the_pool_has_k_of_each_class():
    rows, scores = scored(ties=True)
    out = np.zeros((4, len(rows) + 1))
    pool(sides_of(rows.target > 0, rows.groups), padded(scores.numpy()), out, k=6)
    for user in range(15):
        for positive in (True, False):
            own = (rows.groups == user) & ((rows.target > 0) == positive)
            np.testing.assert_allclose(out[:, :-1][:, own].sum(1), min(6, own.sum()))
