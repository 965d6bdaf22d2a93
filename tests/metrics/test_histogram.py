import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.test_every_metric import METRICS

from rankwise import metrics as m
from rankwise.metrics._setting import _kernels

NAMES = [name for name, (metric, _) in METRICS.items() if _kernels[metric].takes_counts]
LARGE = np.random.default_rng(0)


@st.composite
def items(draw):
    """Scores that share buckets, tie, overflow float32 and have both signs; both classes."""
    near = st.integers(0, 40).map(lambda step: 1 + step * 2.0**-16)  # one bucket of 12 bits is 2⁻³
    far = st.sampled_from([0.0, -0.0, -1.0, -1.0000001, 1e-45, 3e38, 1e300, np.inf, -np.inf])
    scores = draw(st.lists(st.one_of(near, far), min_size=2, max_size=25))
    target = draw(st.lists(st.integers(0, 1), min_size=len(scores), max_size=len(scores)))
    target[0], target[1] = 0, 1
    return np.array(scores), np.array(target)


def counted(scores, target, bits=12):
    histogram = m.ScoreHistogram(bits)
    histogram.add(scores, target)
    return histogram


@pytest.mark.filterwarnings("ignore:some lists have fewer")
@pytest.mark.parametrize("ties", ["standard", "against"])
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(items(), st.integers(0, 30), st.integers(1, 24))
def test_bounds_hold_the_exact_value_and_a_second_pass_makes_them_meet(name, ties, case, most, cut):
    function, options = METRICS[name]
    metric = m.Metric(function, **options, ties=ties)
    scores, target = case
    exact = float(function(scores, target, **options, ties=ties))
    histogram = counted(scores, target)
    low, high = histogram.bounds(metric)
    assert low <= exact <= high
    parts = [(scores[:cut], target[:cut]), (scores[cut:], target[cut:])]
    some = histogram.refine(parts, max_positives=most)
    inner_low, inner_high = histogram.bounds(metric, some)
    assert inner_low <= exact <= inner_high
    assert low - 1e-11 <= inner_low
    assert inner_high <= high + 1e-11
    resolved = histogram.bounds(metric, histogram.refine(parts))
    assert resolved == pytest.approx((exact, exact), abs=1e-11)


@given(items(), st.integers(1, 24))
def test_merged_is_whole(case, cut):
    scores, target = case
    halves = counted(scores[:cut], target[:cut]) + counted(scores[cut:], target[cut:])
    whole = counted(scores, target)
    np.testing.assert_array_equal(halves.counts, whole.counts)
    assert halves.counts.sum(1).tolist() == [(target == 0).sum(), (target == 1).sum()]


@given(items())
def test_buckets_are_ordered_like_the_scores(case):
    scores, target = case
    buckets = counted(scores, target)._read(scores, target)[0]
    order = np.argsort(scores)
    assert (np.diff(buckets[order]) >= 0).all()
    assert buckets.min() >= 0
    assert buckets.max() < 2**12


def test_bounds_are_close_for_many_items_and_meet_after_a_second_pass():
    target = LARGE.random(50_000) < 0.1
    scores = (LARGE.standard_normal(50_000) + target).astype(np.float32)
    histogram = counted(torch.tensor(scores), torch.tensor(target), bits=20)
    for metric in (m.Metric(m.auroc), m.Metric(m.average_precision)):
        exact = float(metric.value(scores, target))
        low, high = histogram.bounds(metric)
        assert low <= exact <= high
        assert 1e-6 < high - low < 2e-3
        low, high = histogram.bounds(metric, histogram.refine([(scores, target)]))
        assert high - low < 1e-11


def test_bad_input_and_one_class():
    histogram = counted(np.array([1.0, 2.0]), np.array([0, 0]))
    assert math.isnan(histogram.bounds(m.Metric(m.auroc))[0])
    with pytest.raises(ValueError, match="scores contains NaN"):
        histogram.add(np.array([np.nan]), np.array([1]))
    with pytest.raises(ValueError, match="target must contain only 0 and 1"):
        histogram.add(np.array([1.0]), np.array([2]))
    with pytest.raises(ValueError, match="metric must be of two classes"):
        histogram.bounds(m.Metric(m.ndcg))
    with pytest.raises(ValueError, match="bits must be from 9 to 26, got 30"):
        m.ScoreHistogram(30)
    with pytest.raises(ValueError, match="bits must be the same to add, got 12 and 20"):
        histogram + m.ScoreHistogram()
    scores, target = np.array([1.0, 1.0, 1.0]), np.array([0, 1, 1])
    both = counted(scores, target)
    with pytest.raises(ValueError, match="got 2 of 3"):
        both.refine([(scores[:2], target[:2])])
    with pytest.raises(ValueError, match="parts must be the items that were added"):
        both.refine([(np.append(scores, 1.0), np.append(target, 1))])
