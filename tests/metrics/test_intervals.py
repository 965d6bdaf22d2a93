import math

import numpy as np
import pytest

from rankwise import metrics as m


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
