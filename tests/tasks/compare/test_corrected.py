from __future__ import annotations

import math

import pytest
from scipy.stats import ttest_1samp

from rankwise.tasks.compare.corrected import Estimate, corrected


def test_the_interval_and_p_are_students_with_the_variance_enlarged_by_what_folds_share():
    values = [0.1, 0.3, 0.2, 0.2, 0.3, 0.1, 0.2, 0.2, 0.2, 0.2]
    found = corrected(values, fitted=400, judged=100)
    variance = sum((value - 0.2) ** 2 for value in values) / 9
    error = math.sqrt((1 / 10 + 100 / 400) * variance)
    assert found.mean == pytest.approx(0.2)
    # Student's quantile and tail of nine degrees of freedom.
    assert found.high - found.mean == pytest.approx(2.2621571628 * error)
    assert found.mean - found.low == pytest.approx(2.2621571628 * error)
    plain = ttest_1samp(values, 0.0)
    assert plain.statistic * math.sqrt(variance / 10) / error == pytest.approx(0.2 / error)
    assert found.p > plain.pvalue


def test_folds_that_agree_leave_no_doubt_and_no_difference_is_no_difference():
    assert corrected([0.0, 0.0, 0.0], 4, 1) == Estimate(0.0, 0.0, 0.0, 1.0)
    assert corrected([0.5, 0.5], 4, 1) == Estimate(0.5, 0.5, 0.5, 0.0)


def test_a_fold_without_a_value_leaves_none():
    found = corrected([0.5, math.nan], 4, 1)
    assert all(math.isnan(each) for each in (found.mean, found.low, found.high, found.p))
    assert math.isnan(found.within(0.0, 1.0).low)


def test_an_interval_is_kept_within_what_a_metric_can_be():
    found = corrected([0.1, 0.9], 1, 1).within(0.0, 1.0)
    assert (found.low, found.high) == (0.0, 1.0)
