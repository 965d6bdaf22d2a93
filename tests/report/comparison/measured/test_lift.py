from __future__ import annotations

import numpy as np
import pytest

from rankwise.metrics import precision_at_k, recall_at_k
from rankwise.report.comparison.measured.levels import levels_of
from rankwise.report.comparison.measured.lift import found_at, places


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
