from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_curve

from rankwise.report.comparison.measured.levels import effective_size, levels_of


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
    assert np.allclose(levels.fpr, fpr[1:])
    assert np.allclose(levels.recall, tpr[1:])
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
