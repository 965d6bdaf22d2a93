from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.estimators.papk.generated import part

from rankwise.estimators.papk import Users
from rankwise.estimators.papk.gradients import (
    LogisticGradient,
    PartialAUCAtK,
    RiskGradient,
    SelectedGradient,
    StrictPrecisionAtK,
)
from rankwise.objectives import PApAtK, PrecisionAtK


def sides(scores, target):
    return (
        scores[target].sort(descending=True).values,
        scores[~target].sort(descending=True).values,
    )


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


@pytest.mark.parametrize("ties", [False, True])
def test_the_highest_negatives_alone_give_the_same(ties):
    torch.manual_seed(0)
    rows, k = part(9), 4
    users = Users.of_part(rows)
    scores = torch.randn(3, len(rows), dtype=torch.float64)
    scores = scores.mul(2).round() if ties else scores
    losses = [PApAtK(k, surrogate, score_scale=1) for surrogate in ("avg", "max", "ts", "ramp")]
    for loss in (*losses, PartialAUCAtK(k), StrictPrecisionAtK(k)):
        expected = RiskGradient(loss)(users, scores)
        assert expected.abs().sum() > 0
        torch.testing.assert_close(RiskGradient(loss)(users, scores), expected)


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
    users = Users.of(rows.target > 0, rows.groups, weight)
    scores = torch.randn(1, len(rows), dtype=torch.float64, requires_grad=True)
    losses = torch.nn.functional.binary_cross_entropy_with_logits(
        scores[0], torch.from_numpy(rows.target), torch.from_numpy(weight), reduction="sum"
    )
    (expected,) = torch.autograd.grad(losses / weight.sum(), scores)
    torch.testing.assert_close(LogisticGradient()(users, scores.detach()), expected)


def test_the_pool_is_the_top_of_every_user_and_stays_for_inner_steps():
    groups = np.repeat([0, 1], 5)
    target = np.array([1, 1, 1, 0, 0, 1, 0, 0, 0, 0]) > 0
    users = Users.of(target, groups)
    scores = torch.tensor([[3.0, 2, 1, 0, -1, 0, 4, 3, 2, 1]], dtype=torch.float64)
    follow = SelectedGradient(2, inner=2)
    pool = torch.tensor([1.0, 1, 0, 1, 1, 1, 1, 1, 0, 0], dtype=torch.float64)
    expected = pool * (torch.sigmoid(scores[0]) - torch.from_numpy(target).double()) / 7
    torch.testing.assert_close(follow(users, scores)[0], expected)
    assert (follow(users, -scores)[0] != 0).tolist() == pool.bool().tolist()
    assert (follow(users, -scores)[0] != 0).tolist() == [0, 1, 1, 1, 1, 1, 0, 0, 1, 1]
