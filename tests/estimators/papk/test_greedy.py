from __future__ import annotations

import numpy as np
import torch
from tests.estimators.papk.generated import part

from rankwise.estimators.linear.design import Design
from rankwise.estimators.papk import Users
from rankwise.estimators.papk.descent import Problem
from rankwise.estimators.papk.greedy import combine_greedily


def gain_of(users, k, scores):
    return float(users.gain(torch.from_numpy(scores[None].copy()), k))


def test_two_columns_are_combined_at_the_best_angle():
    rows, k, angles = part(10), 4, 3
    users, design = Users.of_part(rows), Design(rows.X, None)
    z = design.matrix
    alone = [(gain_of(users, k, sign * z[:, c]), c, sign) for c in range(6) for sign in (1, -1)]
    order = sorted({c: g for g, c, _ in sorted(alone)}.items(), key=lambda item: -item[1])
    first, second = order[0][0], order[1][0]
    sign = max((g, s) for g, c, s in alone if c == first)[1]
    f = sign * z[:, first]
    thetas = [i * np.pi / 8 for i in range(-angles, angles + 1)]
    gains = [gain_of(users, k, np.cos(t) * f + np.sin(t) * z[:, second]) for t in thetas]

    def judge(weights):
        return np.arange(weights.shape[1], dtype=float)  # the more columns the better

    found = combine_greedily(Problem(design, users, judge, 0), k, angles, 2)
    assert found.steps.tolist() == [2]
    assert set(np.flatnonzero(found.weights[:, 0])) <= {first, second}
    assert gain_of(users, k, z @ found.weights[:, 0]) == max(gains)


def test_the_judge_says_how_many_columns():
    rows = part(10)
    users, design = Users.of_part(rows), Design(rows.X, None)

    def judge(weights):
        return -np.abs(np.arange(weights.shape[1]) - 2.0)

    found = combine_greedily(Problem(design, users, judge, 0), 4, 2, None)
    assert found.steps.tolist() == [3]
    assert (found.weights != 0).sum() <= 3
