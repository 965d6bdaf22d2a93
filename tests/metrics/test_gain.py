import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import metrics as m

lists = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-2, 3).map(float), min_size=n, max_size=n),
        st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda y: 0 < sum(y) < len(y)),
    )
)


def gains(tp, fp, n_positives, n_negatives):
    """Both gains from precision and recall, as the paper writes them."""
    prior = n_positives / (n_positives + n_negatives)
    precision, recall = tp / (tp + fp), tp / n_positives
    return tuple((x - prior) / ((1 - prior) * x) for x in (precision, recall))


def by_integration(scores, target, steps=20_000):
    """The area by the midpoint rule, TP and FP linear between neighboring thresholds."""
    n_positives, n_negatives = sum(target), len(target) - sum(target)
    points = [(0, 0)]
    for threshold in sorted(set(scores), reverse=True):
        above = [y for s, y in zip(scores, target, strict=True) if s >= threshold]
        points.append((sum(above), len(above) - sum(above)))
    tps, fps = map(np.array, zip(*points, strict=True))
    odds = n_positives / n_negatives
    recall_gain = (np.arange(steps) + 0.5) / steps
    tp = odds * n_positives / (1 + odds - recall_gain)
    place = np.searchsorted(tps, tp, side="left")  # no threshold has exactly this many
    share = (tp - tps[place - 1]) / (tps[place] - tps[place - 1])
    fp = fps[place - 1] + share * (fps[place] - fps[place - 1])
    precision_gain, again = gains(tp, fp, n_positives, n_negatives)
    np.testing.assert_allclose(again, recall_gain, atol=1e-9)
    return precision_gain.mean()


@settings(max_examples=60, deadline=None)
@given(lists)
def test_the_area_is_that_of_an_integration(case):
    scores, target = case
    found = m.auprg(np.array(scores), np.array(target))
    assert found == pytest.approx(by_integration(scores, target), abs=2e-3)


@settings(max_examples=60, deadline=None)
@given(lists)
def test_the_curve_has_the_gains_of_its_thresholds_and_the_area_of_the_metric(case):
    scores, target = (np.array(each) for each in case)
    curve = m.precision_recall_gain_curve(scores, target)
    positives, negatives = target.sum(), (1 - target).sum()
    for precision_gain, recall_gain, threshold in list(zip(*curve, strict=True))[1:]:
        above = scores >= threshold
        expected = gains(target[above].sum(), (1 - target)[above].sum(), positives, negatives)
        assert (precision_gain, recall_gain) == pytest.approx(expected, abs=1e-9)
    assert curve.recall_gain[0] == pytest.approx(0, abs=1e-12)
    assert curve.recall_gain[-1] == pytest.approx(1)
    assert (np.diff(curve.recall_gain) >= -1e-12).all()
    area = np.trapezoid(curve.precision_gain, curve.recall_gain)
    assert m.auprg(scores, target) == pytest.approx(area, abs=1e-9)


def test_one_is_the_best_zero_is_all_tied_and_worse_is_below(ranked):
    assert m.auprg(*ranked(1, 1, 0, 0, 0)) == pytest.approx(1)
    for share in (1, 5, 9):
        target = np.arange(10) < share
        assert m.auprg(np.zeros(10), target) == pytest.approx(0, abs=1e-12)
    # Recall 1/2 after 6 of 6 negatives … precision 1/7 and 2/8: FP/TP = 6 and 3, π/(1 − π) = 1/3.
    worst = m.auprg(*ranked(0, 0, 0, 0, 0, 0, 1, 1))
    start = 2 * 2 / 8  # TP where the recall is π
    assert worst == pytest.approx((1 - 6 / start / 3 + 1 - 6 / 2 / 3) / 2)


def test_it_does_not_favor_a_larger_share_of_positives():
    rng = np.random.default_rng(0)
    values = {}
    for share in (0.05, 0.5):
        y = rng.random(100_000) < share
        scores = rng.normal(size=100_000)
        values[share] = (m.average_precision(scores, y), m.auprg(scores, y))
    assert values[0.5][0] - values[0.05][0] > 0.4
    assert abs(values[0.5][1]) < 0.05
    assert abs(values[0.05][1]) < 0.3


def test_intervals_and_bounds_may_be_below_zero():
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.3
    scores = rng.normal(size=20_000) - y
    value = float(m.auprg(scores, y))
    assert value < 0
    (found,) = m.confidence_intervals([m.Metric(m.auprg)], scores, y)
    assert found.low < value < found.high
    bounded = m.Metric(m.auprg, memory="bounded")
    bounded.update(scores, y)
    low, high = bounded.bounds()
    assert low <= value <= high
    assert high - low < 0.02
    alone = m.bootstrap_interval(m.auprg, scores[:2000], y[:2000], resamples=200)
    assert alone.low < alone.value < alone.high


def test_one_class_has_no_curve():
    with pytest.warns(RuntimeWarning, match="only one class"):
        assert math.isnan(m.auprg(np.array([1.0, 2.0]), np.array([1, 1])))
    with (
        pytest.warns(RuntimeWarning, match="only one class"),
        pytest.raises(ValueError, match=r"both classes .* got 2 positives and 0 negatives"),
    ):
        m.precision_recall_gain_curve(np.array([1.0, 2.0]), np.array([1, 1]))
