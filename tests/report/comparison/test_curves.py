from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score, roc_curve

from rankwise.metrics import precision_at_k, recall_at_k
from rankwise.report.comparison import curves
from rankwise.report.comparison.curves import (
    _wilson,
    brier_score,
    effective_size,
    found_at,
    levels_of,
    lift_curves,
    places,
    precision_recall_curves,
    reliability,
    roc_curves,
)


def test_counts_by_hand_with_a_tie():
    scores, target = np.array([3.0, 2.0, 2.0, 1.0]), np.array([1.0, 0.0, 1.0, 0.0])
    levels = levels_of(scores, target, np.ones(4))
    assert levels.score.tolist() == [3, 2, 1]
    assert levels.positives.tolist() == [1, 2, 2]
    assert levels.negatives.tolist() == [0, 1, 2]
    assert levels.flagged.tolist() == [1, 3, 4]
    assert levels.prior == 0.5
    assert levels.sizes == (2, 2)


def test_rates_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    scores, target = rng.integers(0, 30, 200).astype(float), (rng.random(200) < 0.3).astype(float)
    weight = rng.random(200)
    levels = levels_of(scores, target, weight)
    fpr, tpr, at = roc_curve(target, scores, sample_weight=weight, drop_intermediate=False)
    assert np.allclose(levels.negatives / levels.negatives[-1], fpr[1:])
    assert np.allclose(levels.positives / levels.positives[-1], tpr[1:])
    assert np.array_equal(levels.score, at[1:])


def test_rows_without_weight_are_not_there():
    scores, target = np.array([4.0, 3.0, 2.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    levels = levels_of(scores, target, np.array([0.0, 1.0, 1.0, 2.0]))
    assert levels.score.tolist() == [3, 2, 1]
    assert levels.positives.tolist() == [1, 1, 3]


def test_equal_weights_count_as_rows_and_unequal_ones_as_fewer():
    assert effective_size(np.full(10, 0.3)) == 10
    assert effective_size(np.array([1.0, 3.0])) == round(16 / 10)
    assert effective_size(np.zeros(2)) == 1


EVERY = [precision_recall_curves, roc_curves, lift_curves]


def data(rows=2000, share=0.1, seed=0):
    rng = np.random.default_rng(seed)
    target = (rng.random(rows) < share).astype(float)
    return rng.normal(size=rows) + 1.5 * target, target


def test_the_height_is_the_precision_of_the_positive_that_reaches_the_recall():
    target = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 0.0])
    curve = precision_recall_curves(levels_of(-np.arange(6.0), target, np.ones(6)))
    heights = np.interp([1 / 3, 2 / 3, 1], curve.x, curve.y)
    assert heights == pytest.approx([1 / 1, 2 / 4, 3 / 5], abs=0.01)


def test_areas_are_the_metrics():
    scores, target = data()
    levels = levels_of(scores, target, np.ones(len(target)))
    pr, roc = precision_recall_curves(levels), roc_curves(levels)
    assert np.trapezoid(pr.y, pr.x) == pytest.approx(
        average_precision_score(target, scores), abs=0.01
    )
    assert np.trapezoid(roc.y, roc.x) == pytest.approx(roc_auc_score(target, scores), abs=0.002)


def test_roc_ends_and_jumps_at_once_where_no_negative_is_above():
    scores, target = data(share=0.3)
    curve = roc_curves(levels_of(scores + 9 * target, target, np.ones(len(target))))
    assert (curve.y == 1).all()
    assert curve.x[[0, -1]].tolist() == [0, 1]


def test_lift_of_the_first_row_and_of_all():
    scores, target = data()
    curve = lift_curves(levels_of(scores, target, np.ones(len(target))))
    assert curve.y[-1] == pytest.approx(1)
    first = target[np.argmax(scores)]
    assert curve.y[0] == pytest.approx(first / target.mean())


@pytest.mark.parametrize("measure", EVERY)
def test_a_curve_is_small_and_inside_its_band(measure):
    scores, target = data()
    curve = measure(levels_of(scores, target, np.ones(len(target))))
    assert len(curve.x) <= 200
    assert (curve.low <= curve.high).all()
    assert np.mean((curve.low <= curve.y + 1e-9) & (curve.y <= curve.high + 1e-9)) > 0.95


@pytest.mark.parametrize("measure", EVERY)
def test_a_weight_of_two_is_the_row_twice(measure):
    scores, target = data(400)
    twice = np.random.default_rng(1).random(400) < 0.5
    weighted = measure(levels_of(scores, target, 1.0 + twice))
    doubled = np.append(scores, scores[twice]), np.append(target, target[twice])
    repeated = measure(levels_of(*doubled, np.ones(400 + twice.sum())))
    assert weighted.y == pytest.approx(repeated.y)


@pytest.mark.parametrize("measure", [precision_recall_curves, roc_curves])
def test_the_band_is_that_of_rows_drawn_with_replacement(measure, monkeypatch):
    scores, target = data(1000)
    monkeypatch.setattr(curves, "DRAWS", 1000)
    band = measure(levels_of(scores, target, np.ones(1000)))
    rng = np.random.default_rng(5)
    heights = []
    for _ in range(400):
        drawn = np.concatenate(
            [rng.choice(np.flatnonzero(target == c), int((target == c).sum())) for c in (0, 1)]
        )
        with monkeypatch.context() as patch:
            patch.setattr(curves, "DRAWS", 1)
            heights.append(measure(levels_of(scores[drawn], target[drawn], np.ones(1000))).y)
    low, high = np.quantile(heights, [0.025, 0.975], axis=0)
    # An end of the band is a 2.5 % quantile: of 400 normal draws its standard error is 3.4 % of the
    # width of the band, of 1000 draws 2.1 %, together 4 %, and neighboring places err together.
    # Half as many rows in a resample would move the ends by 20 %.
    width = (high - low).mean()
    assert np.abs(band.low - low).mean() < 0.1 * width
    assert np.abs(band.high - high).mean() < 0.1 * width


def test_the_same_seed_draws_the_same():
    scores, target = data(300)
    levels = levels_of(scores, target, np.ones(300))
    assert np.array_equal(roc_curves(levels, 3).low, roc_curves(levels, 3).low)
    assert not np.array_equal(roc_curves(levels, 3).low, roc_curves(levels, 4).low)


def test_by_hand_with_a_tie_across_k():
    # Positive first, then one of each kind tied, then a negative: of the first two, 1 + 1/2.
    scores, target = np.array([3.0, 2.0, 2.0, 1.0]), np.array([1.0, 0.0, 1.0, 0.0])
    found = found_at(levels_of(scores, target, np.ones(4)), 2)
    assert (found.positives, found.precision, found.recall) == (1.5, 0.75, 0.75)
    assert found.lift == 0.75 / 0.5


def test_agrees_with_the_metrics_on_ties():
    rng = np.random.default_rng(0)
    scores, target = rng.integers(0, 9, 120).astype(float), (rng.random(120) < 0.3).astype(float)
    levels = levels_of(scores, target, np.ones(120))
    for k in (1, 7, 50, 119):
        found = found_at(levels, k)
        assert found.precision == pytest.approx(float(precision_at_k(scores, target, k=k)))
        assert found.recall == pytest.approx(float(recall_at_k(scores, target, k=k)))


def test_places_are_whole_and_inside():
    rng = np.random.default_rng(0)
    levels = levels_of(rng.normal(size=200), np.repeat([0.0, 1.0], 100), np.ones(200))
    assert places(levels) == [1, 2, 4, 10, 20, 40, 100]


def probabilities(rows=5000, seed=0):
    rng = np.random.default_rng(seed)
    probability = rng.beta(0.3, 6, rows)
    return probability, (rng.random(rows) < probability).astype(float), np.ones(rows)


def test_brier_score_is_that_of_scikit_learn():
    probability, target, _ = probabilities(500)
    weight = np.random.default_rng(1).random(500)
    wanted = brier_score_loss(target, probability, sample_weight=weight)
    assert brier_score(probability, target, weight) == pytest.approx(wanted)


def test_bins_hold_all_rows_and_expect_equally_many_positives():
    probability, target, weight = probabilities()
    bins = reliability(probability, target, weight)
    assert len(bins) == 10
    assert sum(each.rows for each in bins) == 5000
    assert sum(each.positives for each in bins) == target.sum()
    expected = np.array([each.rows * each.predicted for each in bins])
    assert expected == pytest.approx(np.full(10, probability.sum() / 10), rel=0.05)


def test_true_probabilities_are_inside_their_intervals():
    bins = reliability(*probabilities(20_000))
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
