"""Fast rankers of users, and what each ranker must do."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from tests.estimators.papk.generated import users

from rankwise.estimators import PApAtKRanker
from rankwise.metrics import pap_at_k

SHORT = {"max_iter": 40, "random_state": 0}
OURS = [
    *(PApAtKRanker(4, form, **SHORT) for form in ("avg", "max", "ts", "ts_eq14", "ramp")),
    PApAtKRanker(4, start="log_loss", **SHORT),
]


def learns_to_rank_new_users_and_repeats(ranker: PApAtKRanker) -> None:
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
