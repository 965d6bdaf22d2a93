"""All rankers of users: they learn, repeat, travel through files, and say what they left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.estimators.papk.generated import users

from rankwise import estimators
from rankwise.estimators import (
    GreedyPApAtKRanker,
    LogisticAtKRanker,
    PApAtKRanker,
    PartialAUCAtKRanker,
    PrecisionAtKRanker,
    Ranker,
    SelectPApAtKRanker,
    StructuralAUCRanker,
)
from rankwise.metrics import pap_at_k

SHORT = {"max_iter": 40, "random_state": 0}
RANKERS = [
    *(PApAtKRanker(4, surrogate, **SHORT) for surrogate in ("avg", "max", "ts", "ramp")),
    PApAtKRanker(4, start="log_loss", **SHORT),
    PartialAUCAtKRanker(4, **SHORT),
    PrecisionAtKRanker(4, **SHORT),
    SelectPApAtKRanker(4, **SHORT),
    LogisticAtKRanker(4, **SHORT),
    StructuralAUCRanker(4, **SHORT),
    GreedyPApAtKRanker(4, random_state=0),
]
every_ranker = pytest.mark.parametrize("ranker", RANKERS, ids=repr)


@every_ranker
def test_learns_to_rank_new_users_and_repeats(ranker):
    X, y, groups = users(60)
    new_X, new_y, new_groups = users(40, seed=1)
    fitted = clone(ranker).fit(X, y, groups=groups)
    found = fitted.score(new_X, new_y, groups=new_groups)
    chance = pap_at_k(new_X[:, 2] * 0 + new_X[:, 5], new_y, k=4, groups=new_groups)
    assert found > 0.6 > chance
    again = clone(ranker).fit(X, y, groups=groups)
    np.testing.assert_array_equal(fitted.coef_, again.coef_)
    scores = fitted.decision_function(new_X) + fitted.threshold_
    np.testing.assert_allclose(scores, new_X @ fitted.coef_[0] + fitted.intercept_[0])


@every_ranker
def test_travels_through_a_file(ranker, tmp_path):
    X, y, groups = users(12)
    fitted = clone(ranker).fit(X, y, groups=groups)
    for kind in (Ranker, type(ranker)):
        loaded = kind.load(fitted.save(tmp_path / "model.rankwise"))
        np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
        assert loaded.get_params() == fitted.get_params()
        assert loaded.users_ == fitted.users_


@pytest.mark.parametrize("ranker", [PApAtKRanker(4), GreedyPApAtKRanker(4, max_columns=3)])
def test_sparse_rows_rank_as_dense_ones(ranker):
    X, y, groups = users(15)
    X = X * (np.abs(X) > 1)
    options = {"standardise": False, "random_state": 0}
    dense, sparse = (
        clone(ranker).set_params(**options).fit(rows, y, groups=groups)
        for rows in (X, csr_array(X))
    )
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-8)


def test_weight_two_is_the_row_twice():
    X, y, groups = users(12)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    ranker = PApAtKRanker(3, "ts", validation_fraction=0, max_iter=30)
    with_weights = clone(ranker).fit(X, y, groups=groups, sample_weight=weight)
    twice = clone(ranker).fit(X[again], y[again], groups=groups[again])
    np.testing.assert_allclose(with_weights.coef_, twice.coef_, atol=1e-10)


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
    raw = PApAtKRanker(4, validation_fraction=0, max_iter=5, standardise=False)
    with pytest.warns(UserWarning, match="1 with fewer than k=4"):
        alone = clone(raw).fit(X[others], y[others], groups=groups[others])
    with pytest.warns(UserWarning, match="1 without positives"):
        whole = clone(raw).fit(X[keep], y[keep], groups=groups[keep])
    np.testing.assert_allclose(alone.coef_, whole.coef_, atol=1e-12)


def test_by_users_in_turn_and_inside_a_ball():
    X, y, groups = users(60)
    ranker = PApAtKRanker(4, "avg", 0.5, radius=0.2, batch_users=8, standardise=False, **SHORT)
    ranker.fit(X, y, groups=groups)
    assert np.linalg.norm(ranker.coef_) <= 0.2 * (1 + 1e-12)
    new_X, new_y, new_groups = users(40, seed=1)
    assert ranker.score(new_X, new_y, groups=new_groups) > 0.6


def test_the_rankers_are_found_by_name():
    for ranker in RANKERS:
        assert getattr(estimators, type(ranker).__name__) is type(ranker)
        assert type(ranker).__name__ in dir(estimators)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (PApAtKRanker(0), "k must be a whole number >= 1, got 0"),
        (PApAtKRanker(2, "mean"), "surrogate must be one of 'avg', 'max', 'ts', 'ramp'"),
        (PApAtKRanker(2, eta=0), "eta must be a finite number > 0, got 0"),
        (PApAtKRanker(2, lam=-1), "lam must be a number >= 0, got -1"),
        (PApAtKRanker(2, radius=-1.0), "radius must be a finite number > 0"),
        (PApAtKRanker(2, batch_users=0), "batch_users must be a whole number >= 1"),
        (PApAtKRanker(2, start="here"), "start must be one of 'zero', 'log_loss'"),
        (SelectPApAtKRanker(2, inner=0), "inner must be a whole number >= 1"),
        (GreedyPApAtKRanker(2, angles=0), "angles must be a whole number >= 1"),
        (GreedyPApAtKRanker(2, max_columns=0), "max_columns must be a whole number >= 1"),
    ],
)
def test_bad_options_are_named(ranker, message):
    X, y, groups = users(5)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, groups=groups)


@parametrize_with_checks(
    [
        PApAtKRanker(3, threshold=0.5, max_iter=30),
        GreedyPApAtKRanker(60, threshold=0.5, angles=2),
    ]
)
@pytest.mark.filterwarnings("ignore:some lists have fewer:RuntimeWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)
