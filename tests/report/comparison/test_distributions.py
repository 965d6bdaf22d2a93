from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from rankwise.report.comparison.distributions import (
    BARS,
    _wilson,
    brier_score,
    histogram_of,
    meet,
    reliability,
    unit_range,
    values_by_group,
)
from rankwise.report.comparison.run import Predictions


def test_each_class_adds_up_to_one():
    rng = np.random.default_rng(0)
    target = (rng.random(900) < 0.1).astype(float)
    scores, weight = rng.standard_cauchy(900), rng.random(900)
    edges, positives, negatives = histogram_of(scores, target, weight)
    assert len(edges) == BARS + 1
    assert positives.sum() == pytest.approx(1)
    assert negatives.sum() == pytest.approx(1)


def test_bars_by_hand():
    target = np.repeat([0.0, 1.0], 100)
    scores = np.concatenate([np.zeros(100), np.repeat([0.0, 1.0], [25, 75])])
    _, positives, negatives = histogram_of(scores, target, np.ones(200))
    assert negatives[0] == 1
    assert positives[[0, -1]].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("scores", [[1.0, 1.0, 1.0], [-np.inf, 0.0, np.inf], [np.inf] * 3])
def test_odd_scores_are_counted_all_the_same(scores):
    target = np.array([0.0, 1.0, 1.0])
    edges, positives, negatives = histogram_of(np.array(scores), target, np.ones(3))
    assert positives.sum() == pytest.approx(1)
    assert negatives.sum() == pytest.approx(1)
    assert np.isfinite(edges).all()


def test_unit_range():
    assert unit_range(np.array([2.0, 4.0, 3.0])).tolist() == [0, 1, 0.5]
    assert unit_range(np.array([-np.inf, 0.0, 1.0, np.inf])).tolist() == [0, 0, 1, 1]
    assert unit_range(np.array([5.0, 5.0])).tolist() == [0.5, 0.5]
    assert unit_range(np.array([-1.7e308, 1.7e308])).tolist() == [0, 1]


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


def predictions(scores, target, group, weight=None):
    weight = np.ones(len(target)) if weight is None else weight
    return Predictions(np.array(target), weight, np.array(group), {0: np.array(scores)}, {})


def test_one_value_per_list_and_none_for_one_class():
    given = predictions(
        [3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 0.0], [1.0, 0, 0, 0, 1.0, 0, 0], [0, 0, 0, 1, 1, 2, 2]
    )
    values = values_by_group("ap", given, 0)
    assert values[:2].tolist() == [1, 1 / 2]
    assert np.isnan(values[2])
    assert values_by_group("precision@1", given, 0)[:2].tolist() == [1, 0]


def test_weights_are_used():
    given = predictions([2.0, 1.0], [0.0, 1.0], [0, 0], np.array([3.0, 1.0]))
    assert values_by_group("ap", given, 0) == pytest.approx([1 / 4])


def test_lists_are_compared_where_both_have_a_value():
    found = meet(np.array([1.0, 0.5, np.nan, 0.2, 0.2]), np.array([0.5, 0.5, 1, np.nan, 0.9]))
    assert found == (1, 1, 1)
