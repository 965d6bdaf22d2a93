from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.estimators.papk.generated import part
from tests.estimators.papk.test_descent import own_gradient, problem
from tests.estimators.papk.test_descent_subgradients import same_as_autograd, scored

from rankwise.estimators import PApAtKRanker
from rankwise.estimators.data import Part
from rankwise.estimators.papk.descent import descend
from rankwise.estimators.papk.users import Users
from rankwise.objectives import PrecisionAtK
from reproductions.papk_solvers.gradients import (
    LogisticGradient,
    PartialAUCAtK,
    SelectedGradient,
    StrictPrecisionAtK,
    partial_auc_gradient,
    precision_gradient,
)

FORMS = {"SVM-pAUC": partial_auc_gradient, "SGD@k-avg": precision_gradient}


@pytest.mark.parametrize("name", list(FORMS))
@pytest.mark.parametrize("k", [1, 4, 9, 30, 60])
@pytest.mark.parametrize("ties", [False, True])
def test_the_closed_form_is_the_objectives_gradient(name, k, ties):
    gradient = FORMS[name](k)
    rows, scores = scored(ties)
    users = Users.of_part(rows)
    # No user has 60 negatives after the places that negatives must take.
    slope = same_as_autograd(gradient.objective, gradient.closed_form, users, scores)
    assert slope == ((name, k) != ("SGD@k-avg", 60))


@pytest.mark.parametrize("name", list(FORMS))
def test_in_single_precision_it_is_the_same_but_for_rounding(name):
    form = FORMS[name](5).closed_form
    rows, scores = scored(ties=False, dtype=torch.float32)
    users = Users.of_part(rows)
    single, double = users.by_side(form, scores), users.by_side(form, scores.double())
    np.testing.assert_allclose(single.numpy(), double.numpy(), atol=1e-6)


def test_kinks_have_slope_zero_as_the_hinge_has():
    rows, scores = scored(ties=False)
    scores = (2 * scores).round() / 2
    gradient = partial_auc_gradient(4)
    users = Users.of_part(rows)
    assert same_as_autograd(gradient.objective, gradient.closed_form, users, scores)


@pytest.mark.parametrize("start", [None, (np.linspace(0.5, -0.5, 6), 0.0)])
@pytest.mark.parametrize("name", list(FORMS))
def test_all_settings_in_one_descent_walk_as_one_by_one(name, start):
    etas, lams = np.array([0.05, 0.5, 0.2]), np.array([0.01, 0.1, 1.0])
    options = PApAtKRanker(max_iter=25)
    gradient = FORMS[name](5)
    walks = []
    for follow in (gradient, own_gradient(gradient.objective)):
        seen = []

        def evaluate(weights, seen=seen):
            seen.append(weights.copy())
            return np.full(weights.shape[1], float(len(seen)))

        descend(problem(evaluate), follow, etas, lams, options, start=start)
        walks.append(np.stack(seen))
    assert np.abs(walks[0]).max() > 0.05
    np.testing.assert_allclose(walks[0], walks[1], atol=1e-9)


def test_the_pool_has_k_of_each_class():
    rows, scores = scored(ties=True)
    out = SelectedGradient(6, 1).pool(Users.of_part(rows), scores).numpy()
    for user in range(15):
        for positive in (True, False):
            own = (rows.groups == user) & ((rows.target > 0) == positive)
            np.testing.assert_allclose(out[:, own].sum(1), min(6, own.sum()))


def sides(scores, target):
    return (
        scores[target].sort(descending=True).values,
        scores[~target].sort(descending=True).values,
    )


def test_partial_auc_takes_all_positives_and_the_k_highest_negatives():
    torch.manual_seed(0)
    scores, target = torch.randn(30, dtype=torch.float64), torch.arange(30) % 3 == 0
    positives, negatives = sides(scores, target)
    for k in (1, 4, 50):
        expected = (1 - positives[:, None] + negatives[:k]).clamp_min(0).mean()
        torch.testing.assert_close(PartialAUCAtK(k)(scores, target), expected)


def test_strict_precision_does_not_see_the_negatives_that_must_be_there():
    # 2 positives in 4 places: two negatives are in any top 4, and only the third can do harm.
    positives, negatives = [3.0, 1.0], [9.0, 8.0, 2.0, -5.0]
    scores = torch.tensor(positives + negatives, dtype=torch.float64, requires_grad=True)
    target = torch.arange(6) < 2
    loss = StrictPrecisionAtK(4)(scores, target)
    # one negative in place of the lowest positive: 1 + 2 − 1 = 2; two: 2 + (2 − 5) − (3 + 1) < 0
    assert float(loss.detach()) == pytest.approx(2 / 2)
    (gradient,) = torch.autograd.grad(loss, scores)
    assert gradient.tolist() == pytest.approx([0, -0.5, 0, 0, 0.5, 0])


def test_strict_precision_is_the_plain_one_where_there_are_k_positives():
    torch.manual_seed(1)
    scores, target = torch.randn(25, dtype=torch.float64), torch.arange(25) < 9
    expected = PrecisionAtK(6, "avg", score_scale=1)(scores, target)
    torch.testing.assert_close(StrictPrecisionAtK(6)(scores, target), expected)


def test_strict_precision_is_zero_where_every_place_must_be_a_negatives():
    scores = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    loss = StrictPrecisionAtK(9)(scores, torch.tensor([1, 0, 0]))
    assert float(loss.detach()) == 0
    loss.backward()
    assert not scores.grad.any()


def test_logistic_is_the_gradient_of_the_mean_cross_entropy():
    rows = part(5)
    weight = np.random.default_rng(0).integers(0, 3, len(rows)).astype(float)
    users = Users.of_part(replace(rows, weight=weight))
    scores = torch.randn(1, len(rows), dtype=torch.float64, requires_grad=True)
    losses = torch.nn.functional.binary_cross_entropy_with_logits(
        scores[0], torch.from_numpy(rows.target), torch.from_numpy(weight), reduction="sum"
    )
    (expected,) = torch.autograd.grad(losses / weight.sum(), scores)
    torch.testing.assert_close(LogisticGradient()(users, scores.detach()), expected)


def test_the_pool_is_the_top_of_every_user_and_stays_for_inner_steps():
    groups = np.repeat([0, 1], 5)
    target = np.array([1, 1, 1, 0, 0, 1, 0, 0, 0, 0]) > 0
    users = Users.of_part(Part(np.empty((len(target), 0)), target.astype(float), None, groups))
    scores = torch.tensor([[3.0, 2, 1, 0, -1, 0, 4, 3, 2, 1]], dtype=torch.float64)
    follow = SelectedGradient(2, inner=2)
    pool = torch.tensor([1.0, 1, 0, 1, 1, 1, 1, 1, 0, 0], dtype=torch.float64)
    expected = pool * (torch.sigmoid(scores[0]) - torch.from_numpy(target).double()) / 7
    torch.testing.assert_close(follow(users, scores)[0], expected)
    assert (follow(users, -scores)[0] != 0).tolist() == pool.bool().tolist()
    assert (follow(users, -scores)[0] != 0).tolist() == [0, 1, 1, 1, 1, 1, 0, 0, 1, 1]
