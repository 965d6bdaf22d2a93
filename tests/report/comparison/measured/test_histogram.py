from __future__ import annotations

import numpy as np
import pytest

from rankwise.report.comparison.measured.histogram import BARS, histogram_of, unit_range


def test_each_class_adds_up_to_one():
    rng = np.random.default_rng(0)
    target = (rng.random(900) < 0.1).astype(float)
    scores, weight = rng.standard_cauchy(900), rng.random(900)
    found = histogram_of(scores, target, weight)
    assert len(found.edges) == BARS + 1
    assert found.positives.sum() == pytest.approx(1)
    assert found.negatives.sum() == pytest.approx(1)


def test_bars_by_hand():
    target = np.repeat([0.0, 1.0], 100)
    scores = np.concatenate([np.zeros(100), np.repeat([0.0, 1.0], [25, 75])])
    found = histogram_of(scores, target, np.ones(200))
    assert found.negatives[0] == 1
    assert found.positives[[0, -1]].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("scores", [[1.0, 1.0, 1.0], [-np.inf, 0.0, np.inf], [np.inf] * 3])
def test_odd_scores_are_counted_all_the_same(scores):
    found = histogram_of(np.array(scores), np.array([0.0, 1.0, 1.0]), np.ones(3))
    assert found.positives.sum() == pytest.approx(1)
    assert found.negatives.sum() == pytest.approx(1)
    assert np.isfinite(found.edges).all()


def test_unit_range():
    assert unit_range(np.array([2.0, 4.0, 3.0])).tolist() == [0, 1, 0.5]
    assert unit_range(np.array([-np.inf, 0.0, 1.0, np.inf])).tolist() == [0, 0, 1, 1]
    assert unit_range(np.array([5.0, 5.0])).tolist() == [0.5, 0.5]
    assert unit_range(np.array([-1.7e308, 1.7e308])).tolist() == [0, 1]
