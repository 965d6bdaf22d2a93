from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
import torch

from rankwise import metrics as m
from rankwise.metrics.intervals import delong_covariance


def test_logit_interval_by_the_formula():
    scores, target = np.array([5.0, 4.0, 3.0, 2.0, 1.0]), np.array([1, 0, 1, 0, 0])
    ap = (1 / 1 + 2 / 3) / 2
    center, error = math.log(ap / (1 - ap)), 1 / math.sqrt(2 * ap * (1 - ap))
    interval = m.logit_interval(scores, target)
    assert interval.value == pytest.approx(ap)
    assert interval.low == pytest.approx(1 / (1 + math.exp(-(center - 1.959964 * error))))
    assert interval.high == pytest.approx(1 / (1 + math.exp(-(center + 1.959964 * error))))


def test_logit_interval_is_undefined_at_one():
    interval = m.logit_interval(np.array([2.0, 1.0]), np.array([1, 0]))
    assert interval.value == 1
    assert math.isnan(interval.low)


def test_coverage():
    # Boyd et al. find the logit interval close to its level, on the wide side.
    rng = np.random.default_rng(0)
    many = np.arange(1_000_000) < 200_000
    true = float(m.average_precision(rng.standard_normal(len(many)) + many, many))
    target, runs, covered = np.arange(500) < 100, 400, 0
    for _ in range(runs):
        interval = m.logit_interval(rng.standard_normal(500) + target, target)
        covered += interval.low <= true <= interval.high
    assert covered / runs >= 0.95 - 3.5 * math.sqrt(0.95 * 0.05 / runs)


def test_bad_input():
    with pytest.raises(ValueError, match="level must be in"):
        m.logit_interval(np.array([2.0, 1.0]), np.array([1, 0]), level=1)
    with pytest.raises(ValueError, match="scores must be one list"):
        m.logit_interval(np.zeros((2, 3)), np.zeros((2, 3)))


def brute_force(target, *vectors):
    """DeLong's covariance over all pairs."""
    by_positive, by_negative = [], []
    for scores in vectors:
        p, n = scores[target == 1][:, None], scores[target == 0]
        wins = (p > n) + 0.5 * (p == n)
        by_positive.append(wins.mean(1))
        by_negative.append(wins.mean(0))
    n_positives, n_negatives = len(by_positive[0]), len(by_negative[0])
    covariance = np.cov(by_positive) / n_positives + np.cov(by_negative) / n_negatives
    return np.mean(by_positive, axis=1), covariance


def test_equal_to_brute_force():
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 80)
    a, b = (rng.standard_normal((2, 80)) + target).round(1)
    areas, covariance = delong_covariance(target, a, b)
    expected_areas, expected = brute_force(target, a, b)
    np.testing.assert_allclose(areas, expected_areas, atol=1e-12)
    np.testing.assert_allclose(covariance, expected, atol=1e-12)


def test_interval_and_test_by_the_formulas():
    rng = np.random.default_rng(1)
    target = rng.integers(0, 2, 80)
    a, b = rng.standard_normal((2, 80)) + target
    areas, v = brute_force(target, a, b)
    interval = m.delong_interval(a, target, level=0.9)
    assert interval.value == pytest.approx(areas[0])
    assert interval.low == pytest.approx(areas[0] - 1.6448536 * math.sqrt(v[0, 0]))
    result = m.delong_test(a, b, target)
    error = math.sqrt(v[0, 0] + v[1, 1] - 2 * v[0, 1])
    z = abs(areas[0] - areas[1]) / error
    assert result.difference == pytest.approx(areas[0] - areas[1])
    assert result.p_value == pytest.approx(2 * (1 - NormalDist().cdf(z)))
    assert (result.value_a, result.value_b) == pytest.approx(tuple(areas))
    assert result.high == pytest.approx(result.difference + 1.959964 * error)


def test_same_ranking_has_no_difference():
    scores, target = torch.randn(20), torch.arange(20) % 2
    assert m.delong_test(scores, scores.exp(), target).p_value == 1


def test_coverage_of_delong():
    rng = np.random.default_rng(0)
    true, runs = NormalDist().cdf(1 / math.sqrt(2)), 400
    target = np.arange(150) < 50
    covered = 0
    for _ in range(runs):
        interval = m.delong_interval(rng.standard_normal(150) + target, target)
        covered += interval.low <= true <= interval.high
    assert covered / runs == pytest.approx(0.95, abs=3.5 * math.sqrt(0.95 * 0.05 / runs))


def test_bad_input_of_delong():
    with pytest.raises(ValueError, match="at least two positives and two negatives"):
        m.delong_interval(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 0]))
    with pytest.raises(ValueError, match="scores must be one list"):
        m.delong_interval(np.zeros((2, 4)), np.zeros((2, 4)))
    with pytest.raises(ValueError, match="level must be in"):
        m.delong_interval(np.zeros(4), np.arange(4) % 2, level=95)
