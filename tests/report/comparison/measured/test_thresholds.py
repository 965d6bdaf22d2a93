from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.report.comparison.measured.levels import levels_of
from rankwise.report.comparison.measured.thresholds import thresholds_of


def data(seed, rows=3000):
    rng = np.random.default_rng(seed)
    target = (rng.random(rows) < 0.05).astype(float)
    target[:2] = [0, 1]
    return np.round(rng.normal(size=rows) + 2 * target, 3), target, rng.integers(1, 4, rows) * 1.0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 50), st.floats(0, 100), st.floats(0, 100))
def test_the_cheapest_row_is_the_cheapest_of_all_thresholds(seed, false_positive, false_negative):
    scores, target, weight = data(seed, 300)
    levels = levels_of(scores, target, weight)
    rows = thresholds_of(levels)
    missed = levels.positives[-1] - np.append(levels.positives, 0)
    every = false_positive * np.append(levels.negatives, 0) + false_negative * missed
    at = rows.cheapest(false_positive, false_negative)
    cost = false_positive * rows.false_positives[at]
    cost += false_negative * (rows.positives - rows.true_positives[at])
    assert cost == pytest.approx(every.min(), rel=1e-12, abs=1e-9)


def test_rows_count_what_is_at_or_above_them():
    scores, target, weight = data(1)
    rows = thresholds_of(levels_of(scores, target, weight))
    assert (np.diff(rows.threshold) > 0).all()
    assert scores.min() - 0.01 < rows.threshold[0] <= scores.min()
    assert np.isinf(rows.threshold[-1])
    assert len(rows.threshold) < 400
    for at in range(0, len(rows.threshold), 17):
        flagged = scores >= rows.threshold[at]
        assert rows.true_positives[at] == weight[flagged & (target == 1)].sum()
        assert rows.false_positives[at] == weight[flagged & (target == 0)].sum()


@pytest.mark.parametrize(
    ("scores", "thresholds"),
    [
        ([0.2, 0.7], [0.2, 0.7]),
        ([1 / 3, 2 / 3], [0.333, 0.666]),  # 0.667 would not flag the last row
        ([0.12341, 0.12349], [0.123, 0.12349]),  # 0.1234 would flag both
        ([0.1, 0.1 + 2**-56], [0.1, 0.1 + 2**-56]),  # nothing lies between the two
        ([-2 / 3, -1 / 3], [-0.667, -0.334]),
        ([2e-9, 123456.0], [2e-9, 123000.0]),
    ],
)
def test_thresholds_have_no_more_digits_than_they_need(scores, thresholds):
    rows = thresholds_of(levels_of(np.array(scores), np.array([0.0, 1.0]), np.ones(2)))
    assert rows.threshold.tolist() == [*thresholds, np.inf]


def test_the_level_below_a_threshold_may_be_one_that_is_not_kept():
    scores = 0.5 + np.arange(5000) / 1e8
    rows = thresholds_of(levels_of(scores, (np.arange(5000) > 2500) * 1.0, np.ones(5000)))
    assert len(rows.threshold) < 400
    for at in range(len(rows.threshold)):
        flagged = (scores >= rows.threshold[at]).sum()
        assert flagged == rows.true_positives[at] + rows.false_positives[at]


def test_the_best_f1_is_exact():
    scores, target, weight = data(2)
    levels = levels_of(scores, target, weight)
    rows = thresholds_of(levels)
    every = 2 * levels.positives / (levels.flagged + levels.positives[-1])
    tp, fp = rows.true_positives[rows.best_f1], rows.false_positives[rows.best_f1]
    assert 2 * tp / (tp + fp + rows.positives) == every.max()


def test_one_level_only():
    rows = thresholds_of(levels_of(np.zeros(4), np.array([0.0, 1, 0, 0]), np.ones(4)))
    assert rows.threshold.tolist() == [0, np.inf]
    assert rows.cheapest(1, 10) == 0
    assert rows.cheapest(10, 1) == 1
