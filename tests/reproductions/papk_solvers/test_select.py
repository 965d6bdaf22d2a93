"""Select-pAp@k by the book: every pool to its minimum, then the next pool."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from tests.estimators.papk.generated import part, users

from rankwise.estimators.linear._search import Design
from rankwise.estimators.papk.descent import Problem
from rankwise.estimators.papk.ranker import search_grid, settings
from rankwise.estimators.papk.users import Users
from reproductions.papk_solvers.gradients import SelectedGradient
from reproductions.papk_solvers.rankers import SelectPApAtKRanker
from reproductions.papk_solvers.select import cross_entropy, minimized, select_fully

K = 3


def problem(rows):
    kept = Users.of_part(rows)
    design = Design(rows.X, None)

    def evaluate(weights):
        scores = torch.from_numpy(np.ascontiguousarray((design.matrix @ weights).T))
        return kept.gain(scores, K).numpy()

    return Problem(design, kept, evaluate, 0)


def pool_of(given, weights, intercept):
    scores = given.design.scores(weights) + intercept
    return SelectedGradient(K, 1).pool(given.users, torch.from_numpy(scores[None])).numpy()[0]


def test_the_minimum_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 4)), rng.random(300)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(float)
    lam = 0.01
    found, intercept = minimized(cross_entropy(X, y, weight, lam), (np.zeros(4), 0.0), 1e-8)
    # Its loss is C · Σ weight · log-loss + ½‖w‖²: ours times 1/(2λ).
    other = LogisticRegression(C=1 / (2 * lam * weight.sum()), tol=1e-10, max_iter=1000)
    other.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(found, other.coef_[0], atol=1e-5)
    assert intercept == pytest.approx(other.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-7])
def test_a_pool_ends_where_its_gradient_is_within_the_tolerance(tolerance):
    given = problem(part(25))
    target = given.users.target.numpy().astype(float)
    pool = pool_of(given, np.ones(given.design.columns), 0.0)
    rows = np.flatnonzero(pool)
    loss = cross_entropy(given.design.matrix[rows], target[rows], pool[rows], 1e-3)
    start = (np.zeros(given.design.columns), 0.0)
    assert np.abs(loss(np.zeros(given.design.columns + 1))[1]).max() > 1e-2
    weights, intercept = minimized(loss, start, tolerance)
    assert np.abs(loss(np.append(weights, intercept))[1]).max() <= tolerance


def test_pools_and_minima_take_turns_until_a_pool_comes_back():
    """The loop of the paper written out; the last pool chooses itself or an earlier one."""
    given, lam = problem(part(25)), 0.01
    target = given.users.target.numpy().astype(float)
    weights, intercept, pools, best = np.zeros(given.design.columns), 0.0, [], -1.0
    for _ in range(100):
        pool = pool_of(given, weights, intercept)
        if any(np.array_equal(pool, before) for before in pools):
            break
        pools.append(pool)
        other = LogisticRegression(C=1 / (2 * lam * pool.sum()), tol=1e-10, max_iter=1000)
        other.fit(given.design.matrix, target, sample_weight=pool)
        weights, intercept = other.coef_[0], float(other.intercept_[0])
        best = max(best, float(given.evaluate(weights[:, None])[0]))
    options = {"pools": 100, "patience": 100, "tolerance": 1e-9, "start": None}
    found = select_fully(given, K, np.array([lam]), **options)
    assert 1 < len(pools) < 100
    assert found.steps.tolist() == [len(pools)]
    assert found.values[0] == pytest.approx(best)


def test_eta_plays_no_part_and_settings_of_equal_ridge_are_one():
    train, held = part(20), part(10, seed=1)
    grid = settings((0.05, 0.5), (0.001, 1.0))
    found = search_grid(SelectPApAtKRanker(K), train, held, grid)
    np.testing.assert_array_equal(found.weights[:, 0], found.weights[:, 2])
    np.testing.assert_array_equal(found.weights[:, 1], found.weights[:, 3])
    assert np.abs(found.weights[:, 0] - found.weights[:, 1]).max() > 0.01


def test_a_start_is_among_the_models_and_a_limit_on_pools_holds():
    given = problem(part(25))
    start = (np.linspace(-1, 1, given.design.columns), 0.0)
    found = select_fully(
        given, K, np.array([100.0]), pools=1, patience=5, tolerance=1e-6, start=start
    )
    assert found.steps.tolist() == [1]
    assert found.values[0] >= float(given.evaluate(start[0][:, None])[0])


def test_a_number_of_steps_is_the_old_descent_and_until_convergence_the_default():
    X, y, groups = users(20)
    default = SelectPApAtKRanker(K, random_state=0)
    assert default.inner is None
    stepped = SelectPApAtKRanker(K, inner=10, max_iter=40, random_state=0).fit(X, y, groups=groups)
    full = default.fit(X, y, groups=groups)
    assert stepped.n_iter_ > full.n_iter_ >= 2  # steps, and pools
    assert full.score(X, y, groups=groups) > 0.6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inner": 0}, "inner must be a whole number >= 1"),
        ({"inner_tolerance": 0.0}, "inner_tolerance must be a finite number > 0, got 0.0"),
        ({"radius": 1.0}, "radius is for a given inner, got radius=1.0 and inner=None"),
    ],
)
def test_bad_options_are_named(options, message):
    X, y, groups = users(5)
    with pytest.raises(ValueError, match=message):
        SelectPApAtKRanker(2, **options).fit(X, y, groups=groups)
