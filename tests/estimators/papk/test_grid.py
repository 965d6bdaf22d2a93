from __future__ import annotations

import numpy as np
import pytest
from tests.estimators.papk.generated import part, users

from rankwise.estimators.papk import (
    ETAS,
    LAMS,
    GreedyPApAtKRanker,
    LogisticAtKRanker,
    PApAtKRanker,
    PartialAUCAtKRanker,
    PrecisionAtKRanker,
    SelectPApAtKRanker,
    search_grid,
    settings,
)
from rankwise.estimators.papk.grid import folds_of_users


def test_the_grids_of_the_paper():
    assert len(ETAS) == 12
    assert (ETAS[0], ETAS[-1]) == (1e-4, 0.5)
    assert LAMS == (1e-3, 1e-2, 1e-1, 1.0, 10.0)
    assert len(settings(ETAS, LAMS)) == 60


@pytest.mark.parametrize(
    "ranker",
    [
        *(PApAtKRanker(4, surrogate) for surrogate in ("avg", "max", "ts", "ramp")),
        PApAtKRanker(4, start="log_loss"),
        PartialAUCAtKRanker(4),
        PrecisionAtKRanker(4),
        SelectPApAtKRanker(4),
        LogisticAtKRanker(4),
    ],
    ids=repr,
)
def test_a_setting_of_a_grid_is_the_ranker_alone(ranker):
    train, held = part(20), part(10, seed=1)
    ranker, grid = ranker.set_params(max_iter=20), settings((0.05, 0.5), (0.001, 1.0))
    whole = search_grid(ranker, train, held, grid)
    assert whole.settings == grid
    for place, setting in enumerate(grid):
        alone = search_grid(ranker, train, held, [setting])
        np.testing.assert_allclose(alone.coefficients[:, 0], whole.coefficients[:, place])
        assert alone.values[0] == pytest.approx(whole.values[place])
    assert whole.values[whole.best] == whole.values.max()


def test_the_order_of_the_rows_and_single_precision_change_only_rounding():
    train, held = part(20), part(10, seed=1)
    grid = settings((0.05, 0.5), (0.001, 1.0))
    mixed = train.rows(np.random.default_rng(0).permutation(len(train)))
    for ranker in (PApAtKRanker(4, "ramp", max_iter=20), LogisticAtKRanker(4, max_iter=20)):
        plain = search_grid(ranker, train, held, grid)
        other = search_grid(ranker, mixed, held, grid)
        np.testing.assert_allclose(other.coefficients, plain.coefficients, atol=1e-10)
        single = search_grid(ranker, train, held, grid, single=True)
        np.testing.assert_allclose(single.values, plain.values, atol=0.02)
        np.testing.assert_allclose(single.coefficients, plain.coefficients, atol=0.02)
        assert (single.coefficients != plain.coefficients).any()


def test_cv_chooses_the_best_mean_over_folds_and_fits_with_it():
    X, y, groups = users(30)
    ranker = PApAtKRanker(4, max_iter=15, random_state=1)
    etas, lams = (1e-4, 0.3), (1e-3, 1.0)
    found = ranker.cv(X, y, groups=groups, etas=etas, lams=lams, folds=3)
    table = found.cv_results_
    assert table["values"].shape == (4, 3)
    best = int(np.argmax(table["values"].mean(1)))
    assert (found.eta, found.lam) == (table["eta"][best], table["lam"][best])
    assert (ranker.eta, ranker.lam) == (0.1, 1e-3)
    assert not hasattr(ranker, "coef_")
    again = ranker.cv(X, y, groups=groups, etas=etas, lams=lams, folds=3)
    np.testing.assert_array_equal(found.coef_, again.coef_)
    np.testing.assert_array_equal(table["values"], again.cv_results_["values"])


def test_a_ranker_without_settings_has_one():
    X, y, groups = users(12)
    found = GreedyPApAtKRanker(3, max_columns=2, random_state=0).cv(X, y, groups=groups, folds=2)
    assert found.cv_results_["values"].shape == (1, 2)


def test_folds_leave_out_every_user_once():
    rows = part(13)
    folds = folds_of_users(rows, 4, seed=0)
    assert np.stack(folds).sum(0).tolist() == [1] * len(rows)
    for left_out in folds:
        assert not set(rows.groups[left_out]) & set(rows.groups[~left_out])
    assert sorted(len(set(rows.groups[fold])) for fold in folds) == [3, 3, 3, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": np.zeros(5)}, "groups must name at least folds=5 users"),
        ({"etas": ()}, "etas and lams must not be empty"),
        ({"folds": 0}, "folds must be a whole number >= 1"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(options, message):
    X, y, groups = users(8)
    if "groups" in options:
        options = {"groups": np.arange(len(y)) % 2}
    with pytest.raises(ValueError, match=message):
        PApAtKRanker(2).cv(X, y, **{"groups": groups, **options})


def test_users_of_one_class_do_not_make_folds():
    X, y, groups = users(8)
    y = np.where(groups < 5, 0, y)
    with pytest.raises(ValueError, match="at least folds=4 users must have both classes, got 3"):
        PApAtKRanker(2).cv(X, y, groups=groups, folds=4)
