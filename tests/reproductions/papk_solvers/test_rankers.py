from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.base import clone
from tests.estimators.papk.generated import part, users
from tests.estimators.papk.rankers import SHORT, learns_to_rank_new_users_and_repeats

from rankwise.estimators.linear._search import Design
from rankwise.estimators.papk.descent import Problem
from rankwise.estimators.papk.ranker import search_grid, settings
from rankwise.estimators.papk.users import Users
from reproductions.papk_solvers.rankers import (
    GreedyPApAtKRanker,
    LogisticAtKRanker,
    PartialAUCAtKRanker,
    PrecisionAtKRanker,
    SelectPApAtKRanker,
    StructuralAUCRanker,
    combine_greedily,
)

DESCENTS = [
    PartialAUCAtKRanker(4, **SHORT),
    PrecisionAtKRanker(4, **SHORT),
    SelectPApAtKRanker(4, **SHORT),
    LogisticAtKRanker(4, **SHORT),
    StructuralAUCRanker(4, **SHORT),
]
RANKERS = [*DESCENTS, GreedyPApAtKRanker(4, random_state=0)]


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_learns_to_rank_new_users_and_repeats(ranker):
    learns_to_rank_new_users_and_repeats(ranker)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (SelectPApAtKRanker(2, inner=0), "inner must be a whole number >= 1"),
        (GreedyPApAtKRanker(2, angles=0), "angles must be a whole number >= 1"),
        (GreedyPApAtKRanker(2, max_columns=0), "max_columns must be a whole number >= 1"),
    ],
)
def test_bad_options_are_named(ranker, message):
    X, y, groups = users(5)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, groups=groups)


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_travels_through_a_file(ranker, tmp_path):
    X, y, groups = users(12)
    fitted = clone(ranker).fit(X, y, groups=groups)
    loaded = type(ranker).load(fitted.save(tmp_path / "model.rankwise"))
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    assert loaded.get_params() == fitted.get_params()
    assert loaded.users_ == fitted.users_


def test_sparse_rows_rank_as_dense_ones():
    X, y, groups = users(15)
    X = X * (np.abs(X) > 1)
    ranker = GreedyPApAtKRanker(4, max_columns=3, standardize=False, random_state=0)
    dense, sparse = (clone(ranker).fit(rows, y, groups=groups) for rows in (X, csr_array(X)))
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-8)


@pytest.mark.parametrize("ranker", DESCENTS[:4], ids=repr)
def test_a_setting_of_a_grid_is_the_ranker_alone(ranker):
    train, held = part(20), part(10, seed=1)
    ranker = clone(ranker).set_params(max_iter=20)
    grid = settings((0.05, 0.5), (0.001, 1.0))
    whole = search_grid(ranker, train, held, grid)
    for place, setting in enumerate(grid):
        alone = search_grid(ranker, train, held, [setting])
        np.testing.assert_allclose(alone.weights[:, 0], whole.weights[:, place])
        assert alone.values[0] == pytest.approx(whole.values[place])


def test_the_order_of_the_rows_and_single_precision_change_only_rounding():
    train, held = part(20), part(10, seed=1)
    grid = settings((0.05, 0.5), (0.001, 1.0))
    mixed = train.rows(np.random.default_rng(0).permutation(len(train)))
    ranker = LogisticAtKRanker(4, max_iter=20)
    plain = search_grid(ranker, train, held, grid)
    other = search_grid(ranker, mixed, held, grid)
    np.testing.assert_allclose(other.weights, plain.weights, atol=1e-10)
    single = search_grid(ranker, train, held, grid, single=True)
    np.testing.assert_allclose(single.values, plain.values, atol=0.02)
    np.testing.assert_allclose(single.weights, plain.weights, atol=0.02)
    assert (single.weights != plain.weights).any()


def test_a_ranker_without_settings_has_one():
    X, y, groups = users(12)
    found = GreedyPApAtKRanker(3, max_columns=2, random_state=0).cv(X, y, groups=groups, folds=2)
    assert found.cv_results_["values"].shape == (1, 2)


def gain_of(lists, k, scores):
    return float(lists.gain(torch.from_numpy(scores[None].copy()), k))


def test_two_columns_are_combined_at_the_best_angle():
    rows, k, angles = part(10), 4, 3
    lists, design = Users.of_part(rows), Design(rows.X, None)
    z = design.matrix
    alone = [(gain_of(lists, k, sign * z[:, c]), c, sign) for c in range(6) for sign in (1, -1)]
    order = sorted({c: g for g, c, _ in sorted(alone)}.items(), key=lambda item: -item[1])
    first, second = order[0][0], order[1][0]
    sign = max((g, s) for g, c, s in alone if c == first)[1]
    f = sign * z[:, first]
    thetas = [i * np.pi / 8 for i in range(-angles, angles + 1)]
    gains = [gain_of(lists, k, np.cos(t) * f + np.sin(t) * z[:, second]) for t in thetas]

    def evaluate(weights):
        return np.arange(weights.shape[1], dtype=float)  # the more columns the better

    found = combine_greedily(Problem(design, lists, evaluate, 0), k, angles, 2)
    assert found.steps.tolist() == [2]
    assert set(np.flatnonzero(found.weights[:, 0])) <= {first, second}
    assert gain_of(lists, k, z @ found.weights[:, 0]) == max(gains)


def test_the_metric_decides_how_many_columns():
    rows = part(10)
    lists, design = Users.of_part(rows), Design(rows.X, None)

    def evaluate(weights):
        return -np.abs(np.arange(weights.shape[1]) - 2.0)

    found = combine_greedily(Problem(design, lists, evaluate, 0), 4, 2, None)
    assert found.steps.tolist() == [3]
    assert (found.weights != 0).sum() <= 3
