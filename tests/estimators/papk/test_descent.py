from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.estimators.papk.generated import part

from rankwise.estimators import PApAtKRanker
from rankwise.estimators.linear._search import Design
from rankwise.estimators.papk.descent import Problem, RiskGradient, descend
from rankwise.estimators.papk.users import Users
from rankwise.objectives import PApAtK


def problem(evaluate=None, seed=0):
    rows = part(12)
    users, design = Users.of_part(rows), Design(rows.X, None)

    def gain(weights):
        return users.gain(torch.from_numpy((design.matrix @ weights).T.copy()), 5).numpy()

    return Problem(design, users, gain if evaluate is None else evaluate, seed)


def last_counts(weights):
    """A metric that is higher at every evaluation."""
    last_counts.evaluations += 1
    return np.full(weights.shape[1], float(last_counts.evaluations))


def algorithm_1(found, eta, lam, steps, radius=None):
    """The paper's loop with torch's gradient of w, one setting, all users."""
    rows = part(12)
    z, target = torch.from_numpy(found.design.matrix), torch.from_numpy(rows.target)
    w = torch.zeros(z.shape[1], dtype=torch.float64)
    for t in range(steps):
        w.requires_grad_()
        value = (
            PApAtK(5, score_scale=1)(z @ w, target, groups=torch.from_numpy(rows.groups))
            + lam * w @ w
        )
        (gradient,) = torch.autograd.grad(value, w)
        w = (w - eta / (t + 1) ** 0.5 * gradient).detach()
        if radius is not None and w.norm() > radius:
            w = w * radius / w.norm()
    return w.numpy()


@pytest.mark.parametrize("radius", [None, 0.3])
def test_every_setting_walks_as_algorithm_1_says(radius):
    last_counts.evaluations = 0
    given = problem(last_counts)
    etas, lams = np.array([0.1, 0.5, 0.1]), np.array([0.0, 0.01, 1.0])
    options = PApAtKRanker(max_iter=12, radius=radius)
    found = descend(given, RiskGradient(PApAtK(5, score_scale=1)), etas, lams, options)
    for place, (eta, lam) in enumerate(zip(etas, lams, strict=True)):
        expected = algorithm_1(given, eta, lam, 12, radius)
        np.testing.assert_allclose(found.weights[:, place], expected, atol=1e-10)
    if radius is not None:
        assert np.linalg.norm(found.weights, axis=0).max() <= radius * (1 + 1e-12)
    assert found.values.tolist() == [3.0, 3.0, 3.0]  # after 5, 10 and 12 steps


def own_gradient(objective):
    """What torch says of the objective, one setting after the other."""

    def follow(users, scores):
        rows = []
        for setting in scores.detach():
            leaf = setting[None].clone().requires_grad_()
            (gradient,) = torch.autograd.grad(users.risk(objective, leaf).sum(), leaf)
            rows.append(gradient)
        return torch.cat(rows)

    return follow


@pytest.mark.parametrize("start", [None, (np.linspace(0.5, -0.5, 6), 0.0)])
@pytest.mark.parametrize(
    "objective",
    [PApAtK(5, surrogate, score_scale=1) for surrogate in ("avg", "max", "ts", "ts_eq14", "ramp")],
    ids=["avg", "max", "ts", "ts_eq14", "ramp"],
)
def test_all_settings_at_once_walk_as_one_by_one(objective, start):
    etas, lams = np.array([0.05, 0.5, 0.2]), np.array([0.01, 0.1, 1.0])
    options = PApAtKRanker(max_iter=25)
    walks = []
    for follow in (RiskGradient(objective), own_gradient(objective)):
        seen = []

        def evaluate(weights, seen=seen):
            seen.append(weights.copy())
            return np.full(weights.shape[1], float(len(seen)))

        descend(problem(evaluate), follow, etas, lams, options, start=start)
        walks.append(np.stack(seen))
    assert np.abs(walks[0]).max() > 0.05
    np.testing.assert_allclose(walks[0], walks[1], atol=1e-9)


def test_the_best_iterate_is_kept_and_patience_ends_the_walk():
    values = iter([0.3, 0.9, 0.5, 0.4, 0.8])
    seen = []

    def evaluate(weights):
        seen.append(weights[:, 0].copy())
        return np.array([next(values)])

    options = PApAtKRanker(max_iter=100, patience=2)
    one, follow = np.array([0.1]), RiskGradient(PApAtK(5, score_scale=1))
    found = descend(problem(evaluate), follow, one, 0 * one, options, every=2)
    assert found.values.tolist() == [0.9]
    np.testing.assert_array_equal(found.weights[:, 0], seen[1])
    assert found.steps.tolist() == [8]  # two evaluations that were no better


def test_a_setting_that_settles_or_diverges_ends_alone():
    etas, lams = np.array([1e-3, 1e-9, 1e9]), np.array([0.0, 0.0, 1e30])
    options = PApAtKRanker(max_iter=6, tolerance=1e-3)
    follow = RiskGradient(PApAtK(5, score_scale=1))
    found = descend(problem(), follow, etas, lams, options, every=1)
    assert found.steps[0] == 6
    assert found.steps[2] < 6
    assert np.isfinite(found.weights).all()
    assert np.isfinite(found.values[:2]).all()


def test_users_in_turn_see_everybody_and_the_seed_repeats():
    sizes = []

    def follow(users, scores):
        sizes.append(users.number)
        return RiskGradient(PApAtK(5, score_scale=1))(users, scores)

    one = np.array([0.1])
    options = PApAtKRanker(max_iter=6, batch_users=5)
    first = descend(problem(seed=3), follow, one, 0 * one, options)
    assert sizes == [5, 5, 2, 5, 5, 2]
    again, other = (descend(problem(seed=s), follow, one, 0 * one, options) for s in (3, 4))
    np.testing.assert_array_equal(first.weights, again.weights)
    assert (first.weights != other.weights).any()


def test_a_start_counts_as_an_iterate():
    begin = np.linspace(1, -1, 6)
    found = descend(
        problem(lambda w: -np.abs(w - begin[:, None]).sum(0)),
        RiskGradient(PApAtK(5, score_scale=1)),
        np.array([0.1]),
        np.array([0.0]),
        PApAtKRanker(max_iter=3),
        start=(begin, 0.5),
    )
    assert found.values.tolist() == [0]
    np.testing.assert_array_equal(found.weights[:, 0], begin)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_start_has_no_slope(weighted):
    rows, alpha = part(12), 0.1
    weight = np.random.default_rng(0).uniform(0.5, 2, len(rows)) if weighted else None
    users = Users.of_part(replace(rows, weight=weight))
    design = Design(rows.X, weight)
    weights, intercept = Problem(design, users, len, 0).logistic_start(alpha=alpha, unit=False)
    mass = np.ones(len(rows)) if weight is None else weight
    probability = 1 / (1 + np.exp(-(design.matrix @ weights + intercept)))
    errors = mass * (probability - rows.target) / mass.sum()
    np.testing.assert_allclose(design.matrix.T @ errors + alpha * weights, 0, atol=1e-4)
    assert errors.sum() == pytest.approx(0, abs=1e-4)


def test_the_unit_of_a_hinge_is_the_spread_of_the_scores():
    rows = part(12)
    users, design = Users.of_part(rows), Design(rows.X, None)
    plain, bias = Problem(design, users, len, 0).logistic_start(alpha=0.1, unit=False)
    scaled, smaller = Problem(design, users, len, 0).logistic_start(alpha=0.1, unit=True)
    spread = (design.matrix @ plain).std()
    np.testing.assert_allclose(scaled, plain / spread)
    assert smaller == pytest.approx(bias / spread)
    assert (design.matrix @ scaled).std() == pytest.approx(1)
