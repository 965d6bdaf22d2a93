"""The closed forms against the gradients of the objectives, with and without ties."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from tests.estimators.papk.generated import part

from rankwise.estimators.papk.descent import RiskGradient, average, order_of, pairs, put
from rankwise.estimators.papk.users import Users
from rankwise.objectives import PApAtK

FORMS = {
    "avg": (partial(PApAtK, form="avg"), average),
    "max": (partial(PApAtK, form="max"), partial(pairs, which="lowest")),
    "ramp": (partial(PApAtK, form="ramp"), partial(pairs, which="highest")),
    "ts": (partial(PApAtK, form="ts"), partial(pairs, which="both")),
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


def same_as_autograd(objective, form, users, scores):
    """Compare with autograd; whether there is any slope."""
    leaf = scores.clone().requires_grad_()
    (expected,) = torch.autograd.grad(users.risk(objective, leaf).sum() * users.ranked, leaf)
    found = users.by_side(form, scores)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-12)
    return bool(expected.any())


@pytest.mark.parametrize("name", list(FORMS))
@pytest.mark.parametrize("k", [1, 4, 9, 30, 60])
@pytest.mark.parametrize("ties", [False, True])
def test_the_closed_form_is_the_objectives_gradient(name, k, ties):
    make, form = FORMS[name]
    rows, scores = scored(ties)
    assert same_as_autograd(make(k), partial(form, k=k), Users.of_part(rows), scores)


@pytest.mark.parametrize("name", list(FORMS))
def test_in_single_precision_it_is_the_same_but_for_rounding(name):
    form = partial(FORMS[name][1], k=5)
    rows, scores = scored(ties=False, dtype=torch.float32)
    users = Users.of_part(rows)
    single, double = users.by_side(form, scores), users.by_side(form, scores.double())
    assert single.dtype == torch.float32
    np.testing.assert_allclose(single.numpy(), double.numpy(), atol=1e-6)


def test_kinks_have_slope_zero_as_the_hinge_has():
    rows, scores = scored(ties=False)
    scores = (2 * scores).round() / 2
    users = Users.of_part(rows)
    for make, form in FORMS.values():
        assert same_as_autograd(make(4), partial(form, k=4), users, scores)


@pytest.mark.parametrize("surrogate", ["avg", "max", "ts", "ramp"])
def test_all_users_at_once_is_a_loop_over_them(surrogate):
    rows, k = part(9), 4
    scores = torch.randn(2, len(rows), dtype=torch.float64)
    found = RiskGradient(PApAtK(k, surrogate, score_scale=1))(Users.of_part(rows), scores)
    expected = torch.zeros_like(scores)
    for setting in range(2):
        for user in range(9):
            where = torch.from_numpy(np.flatnonzero(rows.groups == user))
            own = scores[setting, where].requires_grad_()
            value = (
                PApAtK(k, surrogate, score_scale=1)(own, torch.from_numpy(rows.target)[where]) / 9
            )
            expected[setting, where] = torch.autograd.grad(value, own)[0]
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("levels", [None, 5, 1])
@pytest.mark.parametrize("ranks", [1, 4, 20])
def test_equal_scores_share_what_their_ranks_get(levels, ranks):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3, 6, 20))
    if levels is not None:
        scores = np.floor(rng.random((3, 6, 20)) * levels)
    by_rank = rng.random((3, 6, ranks))
    found = put(scores, order_of(scores), by_rank)
    for place in np.ndindex(3, 6):
        given, values = np.zeros(20), scores[place]
        given[np.argsort(-values, kind="stable")[:ranks]] = by_rank[place]
        expected = [given[values == value].mean() for value in values]
        np.testing.assert_allclose(found[place], expected)


def test_a_scaled_objective_is_refused():
    with pytest.raises(ValueError, match="objective must have score_scale=1"):
        RiskGradient(PApAtK(3))
