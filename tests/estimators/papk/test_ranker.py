from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from tests.estimators.papk.generated import part, users
from tests.estimators.papk.rankers import OURS, SHORT, learns_to_rank_new_users_and_repeats

from rankwise.estimators import PApAtKRanker, Ranker
from rankwise.estimators.papk.ranker import ETAS, LAMS, folds_of_users, search_grid, settings


@pytest.mark.parametrize("ranker", OURS, ids=repr)
def test_learns_to_rank_new_users_and_repeats(ranker):
    learns_to_rank_new_users_and_repeats(ranker)


def test_weight_two_is_the_row_twice():
    X, y, groups = users(12)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    ranker = PApAtKRanker(3, "ts", validation_fraction=0, max_iter=30)
    with_weights = clone(ranker).fit(X, y, groups=groups, sample_weight=weight)
    twice = clone(ranker).fit(X[again], y[again], groups=groups[again])
    np.testing.assert_allclose(with_weights.coef_, twice.coef_, atol=1e-10)


def test_by_users_in_turn_and_inside_a_ball():
    X, y, groups = users(60)
    ranker = PApAtKRanker(4, "avg", 0.5, radius=0.2, batch_users=8, standardize=False, **SHORT)
    ranker.fit(X, y, groups=groups)
    assert np.linalg.norm(ranker.coef_) <= 0.2 * (1 + 1e-12)
    new_X, new_y, new_groups = users(40, seed=1)
    assert ranker.score(new_X, new_y, groups=new_groups) > 0.6


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (PApAtKRanker(2, "mean"), "form must be one of 'avg', 'max', 'ts', 'ts_eq14', 'ramp'"),
        (PApAtKRanker(2, eta=0), "eta must be a finite number > 0, got 0"),
        (PApAtKRanker(2, lam=-1), "lam must be a finite number >= 0, got -1"),
        (PApAtKRanker(2, radius=-1.0), "radius must be a finite number > 0"),
        (PApAtKRanker(2, batch_users=0), "batch_users must be a whole number >= 1"),
        (PApAtKRanker(2, start="here"), "start must be one of 'zero', 'log_loss'"),
    ],
)
def test_bad_options_are_named(ranker, message):
    X, y, groups = users(5)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, groups=groups)


@pytest.mark.parametrize("ranker", OURS, ids=repr)
def test_travels_through_a_file(ranker, tmp_path):
    X, y, groups = users(12)
    fitted = clone(ranker).fit(X, y, groups=groups)
    for kind in (Ranker, type(ranker)):
        loaded = kind.load(fitted.save(tmp_path / "model.rankwise"))
        np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
        assert loaded.get_params() == fitted.get_params()
        assert loaded.users_ == fitted.users_


def test_sparse_rows_rank_as_dense_ones():
    X, y, groups = users(15)
    X = X * (np.abs(X) > 1)
    options = {"standardize": False, "random_state": 0}
    dense, sparse = (
        PApAtKRanker(4, **options).fit(rows, y, groups=groups) for rows in (X, csr_array(X))
    )
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-8)


def test_users_without_a_class_or_short_of_negatives_are_counted_and_reported():
    X, y, groups = users(12)
    y = np.where(groups == 3, 0, np.where(groups == 5, 1, y))
    few = (groups == 7) & (y == 0)
    keep = ~few | (np.cumsum(few) <= 2)
    ranker = PApAtKRanker(4, validation_fraction=0, max_iter=5)
    with pytest.warns(UserWarning, match="12 users: 1 without positives and 1 without negatives"):
        ranker.fit(X[keep], y[keep], groups=groups[keep])
    assert (ranker.users_.users, ranker.users_.few_negatives) == (12, 1)
    # They change nothing for the others.
    others = keep & (groups != 3) & (groups != 5)
    raw = PApAtKRanker(4, validation_fraction=0, max_iter=5, standardize=False)
    with pytest.warns(UserWarning, match="1 with fewer than k=4"):
        alone = clone(raw).fit(X[others], y[others], groups=groups[others])
    with pytest.warns(UserWarning, match="1 without positives"):
        whole = clone(raw).fit(X[keep], y[keep], groups=groups[keep])
    np.testing.assert_allclose(alone.coef_, whole.coef_, atol=1e-12)


def test_no_places_are_refused():
    X, y, groups = users(5)
    with pytest.raises(ValueError, match="k must be a whole number >= 1, got 0"):
        PApAtKRanker(0).fit(X, y, groups=groups)


def test_the_grids_of_the_paper():
    assert len(ETAS) == 12
    assert (ETAS[0], ETAS[-1]) == (1e-4, 0.5)
    assert LAMS == (1e-3, 1e-2, 1e-1, 1.0, 10.0)
    assert len(settings(ETAS, LAMS)) == 60


@pytest.mark.parametrize(
    "ranker",
    [
        *(PApAtKRanker(4, form) for form in ("avg", "max", "ts", "ts_eq14", "ramp")),
        PApAtKRanker(4, start="log_loss"),
    ],
    ids=repr,
)
def test_a_setting_of_a_grid_is_the_ranker_alone(ranker):
    train, held = part(20), part(10, seed=1)
    ranker, grid = ranker.set_params(max_iter=20), settings((0.05, 0.5), (0.001, 1.0))
    whole = search_grid(ranker, train, held, grid)
    for place, setting in enumerate(grid):
        alone = search_grid(ranker, train, held, [setting])
        np.testing.assert_allclose(alone.weights[:, 0], whole.weights[:, place])
        assert alone.values[0] == pytest.approx(whole.values[place])


def test_the_order_of_the_rows_and_single_precision_change_only_rounding():
    train, held = part(20), part(10, seed=1)
    grid = settings((0.05, 0.5), (0.001, 1.0))
    mixed = train.rows(np.random.default_rng(0).permutation(len(train)))
    ranker = PApAtKRanker(4, "ramp", max_iter=20)
    plain = search_grid(ranker, train, held, grid)
    other = search_grid(ranker, mixed, held, grid)
    np.testing.assert_allclose(other.weights, plain.weights, atol=1e-10)
    single = search_grid(ranker, train, held, grid, single=True)
    np.testing.assert_allclose(single.values, plain.values, atol=0.02)
    np.testing.assert_allclose(single.weights, plain.weights, atol=0.02)
    assert (single.weights != plain.weights).any()


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
