from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.tasks.compare.ranks import apply_ranks, rank_knots


def log_odds(share):
    return np.log(share / (1 - share))


def test_the_scores_of_the_reference_get_their_own_ranks():
    knots = rank_knots(np.array([5.0, 1.0, 3.0, 3.0]))
    found = apply_ranks(knots, np.array([1.0, 3.0, 5.0, 4.0]))
    # 1 is in the middle of the first quarter, both 3 of the second and third, 5 of the last.
    low, middle, high = log_odds(1 / 8), log_odds(1 / 2), log_odds(7 / 8)
    np.testing.assert_allclose(found, [low, middle, high, (middle + high) / 2], atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50),
    st.lists(st.integers(-2_000_000, 2_000_000), min_size=2, max_size=50, unique=True),
)
def test_the_order_of_scores_is_kept_beyond_the_reference_too(reference, scores):
    scores = np.sort(np.asarray(scores, dtype=float))
    found = apply_ranks(rank_knots(np.asarray(reference)), scores)
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0).all()


def test_beyond_the_reference_nothing_is_tied():
    found = apply_ranks(rank_knots(np.arange(10.0)), np.array([-9.0, -8.0, 20.0, 21.0]))
    assert (np.diff(found) > 0).all()
    assert len(np.unique(apply_ranks(rank_knots(np.array([2.0])), np.array([1.0, 2, 3])))) == 3


def test_a_large_reference_keeps_its_first_ranks():
    scores = np.random.default_rng(0).normal(size=200_000)
    knots = rank_knots(scores)
    assert knots.shape[1] <= 4096
    top = np.sort(scores)[-20:]
    share = (np.arange(199_980, 200_000) + 0.5) / 200_000
    np.testing.assert_allclose(apply_ranks(knots, top), log_odds(share), rtol=1e-6)
    middle = apply_ranks(knots, np.quantile(scores, [0.3, 0.5, 0.7]))
    np.testing.assert_allclose(middle, log_odds(np.array([0.3, 0.5, 0.7])), atol=0.01)


def test_scale_and_shift_of_a_model_do_not_matter():
    rng = np.random.default_rng(1)
    reference, new = rng.normal(size=100), rng.normal(size=30)
    assert apply_ranks(rank_knots(7 * reference + 3), 7 * new + 3) == pytest.approx(
        apply_ranks(rank_knots(reference), new)
    )
