import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from rankwise.metrics import Interval, compare_independent, holm

probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=5)


def by_closed_testing(p_values):
    """Adjusted p: the largest Bonferroni p of all sets of hypotheses that hold this one."""
    places = range(len(p_values))
    sets = [s for size in range(1, len(p_values) + 1) for s in combinations(places, size)]
    bonferroni = {s: min(1.0, len(s) * min(p_values[i] for i in s)) for s in sets}
    return [max(p for s, p in bonferroni.items() if i in s) for i in places]


@given(probabilities)
def test_holm_is_closed_testing_with_bonferroni(p_values):
    assert holm(p_values) == pytest.approx(by_closed_testing(p_values))


def test_holm_does_not_count_what_has_no_p_value():
    found = holm([0.01, math.nan, 0.04])
    assert found[0] == pytest.approx(0.02)
    assert math.isnan(found[1])
    assert found[2] == pytest.approx(0.04)
    assert holm([]) == []


def test_holm_refuses_what_is_not_a_probability():
    with pytest.raises(ValueError, match=r"p_values must be in \[0, 1\].* got 1.2"):
        holm([0.1, 1.2])


def interval(value, error, level=0.95):
    reach = norm.ppf((1 + level) / 2) * error
    return Interval(value, value - reach, value + reach, level, "influence")


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(("a", "b"), [(0.7, 0.6), (0.6, 0.7), (0.5, 0.5)])
def test_of_symmetric_intervals_it_is_the_z_test(a, b, level):
    found = compare_independent(interval(a, 0.03, level), interval(b, 0.04, level))
    z = (a - b) / 0.05  # √(0.03² + 0.04²)
    assert found.p_value == pytest.approx(2 * norm.sf(abs(z)))
    reach = norm.ppf((1 + level) / 2) * 0.05
    assert (found.low, found.high) == pytest.approx((a - b - reach, a - b + reach))
    assert (found.value_a, found.value_b, found.level) == (a, b, level)


@given(st.lists(st.floats(0.001, 0.2), min_size=4, max_size=4), st.floats(-0.3, 0.3))
def test_p_is_below_one_minus_the_level_where_the_interval_leaves_out_zero(reaches, difference):
    below, above, other_below, other_above = reaches
    a = Interval(0.5 + difference, 0.5 + difference - below, 0.5 + difference + above, 0.9, "x")
    b = Interval(0.5, 0.5 - other_below, 0.5 + other_above, 0.9, "x")
    found = compare_independent(a, b)
    if min(abs(found.low), abs(found.high)) > 1e-9:
        assert (found.p_value < 0.1) == (not found.low < 0 < found.high)


def test_the_interval_covers_the_difference_of_two_shares():
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(400):
        both = []
        for share, n in ((0.3, 80), (0.5, 60)):
            value = rng.binomial(n, share) / n
            both.append(interval(value, math.sqrt(value * (1 - value) / n)))
        found = compare_independent(*both)
        covered.append(found.low <= -0.2 <= found.high)
    assert 0.91 < np.mean(covered) < 0.985  # 0.95 ± 4 standard errors of 400 draws


def test_an_interval_without_width_decides_nothing():
    sure = Interval(1.0, 1.0, 1.0, 0.95, "bootstrap")
    assert math.isnan(compare_independent(sure, interval(0.9, 0.01)).p_value)
    undefined = Interval(math.nan, math.nan, math.nan, 0.95, "bootstrap")
    assert math.isnan(compare_independent(undefined, interval(0.9, 0.01)).p_value)


def test_levels_must_agree():
    with pytest.raises(ValueError, match=r"of one level, got 0.95 and 0.9"):
        compare_independent(interval(0.5, 0.1), interval(0.5, 0.1, 0.9))
