"""scikit-learn's own checks of every public estimator at its defaults, without an expected failure.

Options that only make a fit shorter are in the other tests; here nothing is set.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.estimators.generated import Rows

import rankwise.estimators
from rankwise.estimators import Ranker

PUBLIC = [
    getattr(rankwise.estimators, name)
    for name in rankwise.estimators.__all__
    if name != Ranker.__name__
]


@parametrize_with_checks([estimator() for estimator in PUBLIC])
@pytest.mark.filterwarnings("ignore:some lists have fewer:RuntimeWarning")
def test_every_estimator_passes_check_estimator_at_its_defaults(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", PUBLIC, ids=lambda each: each.__name__)
@pytest.mark.filterwarnings("ignore:some lists have fewer:RuntimeWarning")
def test_predict_is_the_larger_probability_at_the_defaults(estimator: Any, rows: Rows) -> None:
    X, y = rows
    fitted = estimator(random_state=0).fit(X, y)
    larger = fitted.classes_[np.argmax(fitted.predict_proba(X), axis=1)]
    np.testing.assert_array_equal(fitted.predict(X), larger)
