"""What all rankers of users share: files, sparse rows, and who is left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from tests.estimators.papk.generated import users
from tests.estimators.papk.rankers import RANKERS

from rankwise import estimators
from rankwise.estimators import GreedyPApAtKRanker, PApAtKRanker, Ranker


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
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
    options = {"standardize": False, "random_state": 0}
    dense, sparse = (
        clone(ranker).set_params(**options).fit(rows, y, groups=groups)
        for rows in (X, csr_array(X))
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


def test_the_rankers_are_found_by_name():
    for ranker in RANKERS:
        assert getattr(estimators, type(ranker).__name__) is type(ranker)
        assert type(ranker).__name__ in dir(estimators)


def test_no_places_are_refused():
    X, y, groups = users(5)
    with pytest.raises(ValueError, match="k must be a whole number >= 1, got 0"):
        PApAtKRanker(0).fit(X, y, groups=groups)
