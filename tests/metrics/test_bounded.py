import math

import numpy as np
import pytest
from tests.metrics.test_histogram import counted

from rankwise import metrics as m

METRICS = [
    m.Metric(m.average_precision),
    m.Metric(m.auroc),
    m.Metric(m.auroc, ties="against"),
    m.Metric(m.partial_auroc, max_fpr=0.05),
    m.Metric(m.precision_at_k, k=100),
    m.Metric(m.r_precision),
]


def drawn(n=30_000, seed=0):
    rng = np.random.default_rng(seed)
    target = rng.random(n) < 0.05
    return (rng.standard_normal(n) + target).round(3).astype(np.float32), target


def test_after_a_second_pass_values_and_intervals_are_those_of_all_items():
    scores, target = drawn()
    whole = m.confidence_intervals(METRICS, scores, target, seed=1)
    parts = [(scores[:9_000], target[:9_000]), (scores[9_000:], target[9_000:])]
    found = m.bounded_intervals(METRICS, counted(scores, target, bits=20), parts, seed=1)
    for one, other in zip(whole, found, strict=True):
        assert other.is_exact
        assert other.method == one.method
        ends = (other.value, other.low, other.high)
        assert ends == pytest.approx((one.value, one.low, one.high), abs=1e-9)


def test_without_the_data_the_intervals_hold_bounds_that_hold_the_value():
    scores, target = drawn()
    found = m.bounded_intervals(METRICS, counted(scores, target, bits=12))
    for metric, each in zip(METRICS, found, strict=True):
        exact = float(metric.value(scores, target))
        assert each.low < each.lowest <= exact <= each.highest < each.high
        assert each.value == pytest.approx((each.lowest + each.highest) / 2)
        assert not each.is_exact


def test_buckets_of_the_lower_ranks_are_fine_enough_for_an_interval(monkeypatch):
    monkeypatch.setattr("rankwise.metrics._refinement.MOST_POSITIVES", 300)
    scores, target = drawn()
    whole = m.confidence_intervals(METRICS, scores, target)
    parts = [(scores, target)]
    found = m.bounded_intervals(METRICS, counted(scores, target, bits=20), parts, max_items=5_000)
    for one, other in zip(whole, found, strict=True):
        assert other.value == pytest.approx(one.value, abs=1e-9)
        width = one.high - one.low
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.05 * width)


def test_one_class_has_no_value_and_relevances_are_refused():
    (found,) = m.bounded_intervals([m.Metric(m.auroc)], counted(np.ones(3), np.zeros(3)))
    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert found.is_exact
    with pytest.raises(ValueError, match="metric must be a sum over two classes"):
        m.bounded_intervals([m.Metric(m.ndcg)], counted(np.ones(3), np.zeros(3)))
