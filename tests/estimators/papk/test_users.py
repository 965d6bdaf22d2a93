from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.estimators.papk.generated import part

from rankwise.estimators.data import Part
from rankwise.estimators.papk.users import Users
from rankwise.metrics import pap_at_k
from rankwise.objectives import PApAtK


@pytest.mark.parametrize("surrogate", ["avg", "max", "ts", "ts_eq14", "ramp"])
@pytest.mark.parametrize("weighted", [False, True])
def test_risk_of_many_scorings_is_the_objective_of_each(surrogate, weighted):
    rows = part(12)
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 4, len(rows)).astype(float) if weighted else None
    users, loss = (
        Users.of_part(replace(rows, weight=weight)),
        PApAtK(5, surrogate, score_scale=1),
    )
    scores = torch.randn(3, len(rows), dtype=torch.float64, requires_grad=True)
    found = users.risk(loss, scores)
    (gradient,) = torch.autograd.grad(found.sum(), scores)
    for setting, value, slope in zip(scores, found, gradient, strict=True):
        row = setting.detach().requires_grad_()
        beside = {
            "groups": torch.from_numpy(rows.groups),
            "weight": None if weight is None else torch.from_numpy(weight),
        }
        expected = loss(row, torch.from_numpy(rows.target), **beside)
        torch.testing.assert_close(value, expected)
        torch.testing.assert_close(slope, torch.autograd.grad(expected, row)[0])


def test_gain_is_micro_pap_with_ties_against():
    rows, k = part(12), 4
    scores = torch.randint(0, 6, (2, len(rows))).double()
    found = Users.of_part(rows).gain(scores, k)
    for row, value in zip(scores, found, strict=True):
        expected = pap_at_k(row.numpy(), rows.target, k=k, groups=rows.groups, ties="against")
        assert float(value) == pytest.approx(float(expected))


def test_users_that_cannot_be_ranked_are_counted_and_leave_the_others_alone():
    #          user 0     no positive  no negative  one negative
    groups = np.array([0, 0, 0, 0, 1, 1, 2, 2, 3, 3])
    target = np.array([1, 0, 0, 0, 0, 0, 1, 1, 1, 0]) > 0
    users = Users.of_part(Part(np.empty((len(target), 0)), target.astype(float), None, groups))
    counts = users.counts(2)
    assert (counts.users, counts.without_positives, counts.without_negatives) == (4, 1, 1)
    assert counts.few_negatives == 1
    assert users.ranked == 2
    scores = torch.tensor([[1.0, 2.0, 0.0, -1.0, 5.0, 5.0, 5.0, 5.0, 3.0, 1.0]])
    assert float(users.gain(scores, 2)) == pytest.approx((1 / 2 + 1) / 2)
    assert "1 without positives and 1 without negatives" in str(counts)
    with pytest.warns(UserWarning, match="1 with fewer than k=2 negatives"):
        counts.warn()


def test_a_subset_has_the_rows_and_risk_of_its_users():
    rows = part(10)
    users, loss = Users.of_part(rows), PApAtK(3, "max", score_scale=1)
    chosen = torch.arange(10) % 3 == 0
    places, some = users.subset(chosen)
    assert sorted(set(rows.groups[places.numpy()].tolist())) == [0, 3, 6, 9]
    assert (some.number, some.ranked) == (4, 4)
    scores = torch.randn(1, len(rows), dtype=torch.float64)
    mask = chosen.numpy()[rows.groups]
    expected = loss(
        scores[0][torch.from_numpy(mask)],
        torch.from_numpy(rows.target[mask]),
        groups=torch.from_numpy(rows.groups[mask]),
    )
    torch.testing.assert_close(some.risk(loss, scores[:, places])[0], expected)


def test_nobody_to_rank_is_zero_with_a_graph():
    users = Users.of_part(Part(np.empty((2, 0)), np.ones(2), None, np.array([0, 0])))
    scores = torch.zeros(2, 2, requires_grad=True)
    (gradient,) = torch.autograd.grad(users.risk(PApAtK(1, score_scale=1), scores).sum(), scores)
    assert not gradient.any()
    assert users.gain(scores, 1).tolist() == [0, 0]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_gain_of_one_user_is_equation_1(ties, k):
    torch.manual_seed(0)
    rows = part(15)
    scores = torch.randn(4, len(rows), dtype=torch.float64)
    scores = scores.mul(2).round() if ties else scores
    users = Users.of_part(rows)
    for user in range(15):
        places, one = users.subset(torch.arange(15) == user)
        for row, value in zip(scores[:, places], one.gain(scores[:, places], k), strict=True):
            expected = _pap(row.numpy(), rows.target[places.numpy()] > 0, k)
            assert float(value) == pytest.approx(expected)


def _pap(scores, target, k):
    """Eq. 1 written out, tied pairs against the ranking."""
    above = np.sort(scores[target])[::-1][:k]
    below = np.sort(scores[~target])[::-1][:k]
    return 1 - (above[:, None] <= below).mean()
