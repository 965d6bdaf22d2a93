from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from rankwise.report.comparison.measured import curves
from rankwise.report.comparison.measured.curves import (
    lift_curves,
    precision_recall_curves,
    roc_curves,
)
from rankwise.report.comparison.measured.levels import levels_of

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
