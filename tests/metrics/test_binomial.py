"""The binomial tail and the exact interval of a share against scipy."""

import numpy as np
import pytest
from scipy import stats

from rankwise.metrics._binomial import binomial_tail, largest_count, least_size, share_interval


@pytest.mark.parametrize("n", [1, 2, 17, 400, 30_000, 2_000_000])
@pytest.mark.parametrize("p", [1e-4, 0.05, 0.5, 0.8, 0.999])
def test_the_tail_is_that_of_the_binomial_distribution(n, p):
    mean, spread = n * p, np.sqrt(n * p * (1 - p))
    k = np.unique(np.clip(np.round(mean + spread * np.linspace(-6, 6, 13)), 0, n + 1))
    expected = stats.binom.sf(k - 1, n, p)
    np.testing.assert_allclose(binomial_tail(k, n, p), expected, rtol=1e-7, atol=1e-13)


def test_the_ends_of_the_tail():
    assert binomial_tail(0, 5, 0.3) == 1
    assert binomial_tail(6, 5, 0.3) == 0
    assert binomial_tail(3, 5, 0.0) == 0
    assert binomial_tail(5, 5, 1.0) == 1


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (3, 10), (41, 43), (1, 5000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(k, n, level):
    expected = stats.binomtest(k, n).proportion_ci(level, method="exact")
    low, high = share_interval(k, n, level)
    assert (float(low), float(high)) == pytest.approx((expected.low, expected.high), abs=1e-10)


def test_nothing_counted_says_nothing():
    assert share_interval(0, 0) == (0, 1)


def test_the_least_size_is_the_first_at_which_luck_is_ruled_out():
    assert least_size(0.8, 0.05) == 14  # .8¹³ = .055, .8¹⁴ = .044
    assert least_size(0.9, 0.05) == 29
    assert least_size(0.999, 0.05) == 2995


@pytest.mark.parametrize(("n", "p"), [(28, 0.1), (29, 0.1), (1000, 0.1), (2994, 0.001)])
def test_the_largest_count_is_the_last_that_is_certain_enough(n, p):
    chances = stats.binom.sf(np.arange(-1, n), n, p)  # of ≥ 0, 1, …
    assert largest_count(n, p, 0.95) == int(np.flatnonzero(chances >= 0.95).max())
