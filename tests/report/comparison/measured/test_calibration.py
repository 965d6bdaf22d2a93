from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from rankwise.report.comparison.measured.calibration import _wilson, brier_score, reliability


def data(rows=5000, seed=0):
    rng = np.random.default_rng(seed)
    probability = rng.beta(0.3, 6, rows)
    return probability, (rng.random(rows) < probability).astype(float), np.ones(rows)


def test_brier_score_is_that_of_scikit_learn():
    probability, target, _ = data(500)
    weight = np.random.default_rng(1).random(500)
    wanted = brier_score_loss(target, probability, sample_weight=weight)
    assert brier_score(probability, target, weight) == pytest.approx(wanted)


def test_bins_hold_all_rows_and_expect_equally_many_positives():
    probability, target, weight = data()
    bins = reliability(probability, target, weight)
    assert len(bins) == 10
    assert sum(each.rows for each in bins) == 5000
    assert sum(each.positives for each in bins) == target.sum()
    expected = np.array([each.rows * each.predicted for each in bins])
    assert expected == pytest.approx(np.full(10, probability.sum() / 10), rel=0.05)


def test_true_probabilities_are_inside_their_intervals():
    bins = reliability(*data(20_000))
    inside = [each.low <= each.predicted <= each.high for each in bins]
    assert sum(inside) >= 9
    assert max(each.predicted for each in bins) > 0.3


def test_ties_are_not_parted_and_zeros_are_one_bin():
    probability, target = np.repeat([0.1, 0.6], 50), np.tile([0.0, 1.0], 50)
    bins = reliability(probability, target, np.ones(100))
    assert [each.predicted for each in bins] == pytest.approx([0.1, 0.6])
    (one,) = reliability(np.zeros(4), np.array([0.0, 1, 0, 0]), np.ones(4))
    assert (one.predicted, one.observed, one.rows) == (0, 0.25, 4)


def test_wilson_by_hand():
    # Newcombe 1998, table I: 81 of 263.
    assert _wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert _wilson(0.0, 20)[0] == 0
