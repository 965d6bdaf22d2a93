"""Gradients of several classes against finite differences and those of two classes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from rankwise.boosting.classes import OneVsRestGradient, softmax_gradient
from rankwise.boosting.gradient import log_loss_gradient
from rankwise.boosting.objectives import gradient_of
from rankwise.boosting.rows import Rows

RNG = np.random.default_rng(0)
SCORES, TARGET = RNG.normal(size=(30, 4)), RNG.integers(0, 4, 30).astype(float)
WEIGHT = RNG.random(30)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_softmax_gradient_is_that_of_the_log_loss(weight: np.ndarray | None) -> None:
    def loss(scores: np.ndarray) -> float:
        logs = log_softmax(scores, axis=1)[np.arange(30), TARGET.astype(int)]
        return float(-(logs * (1 if weight is None else weight)).sum())

    gradient, curvature = softmax_gradient(SCORES, Rows(TARGET, weight))
    step = 1e-4
    for row, c in ((0, 0), (3, 2), (29, 3)):
        moved = np.zeros_like(SCORES)
        moved[row, c] = step
        ends = loss(SCORES + moved), loss(SCORES), loss(SCORES - moved)
        assert gradient[row, c] == pytest.approx((ends[0] - ends[2]) / (2 * step), abs=1e-6)
        second = (ends[0] - 2 * ends[1] + ends[2]) / step**2
        assert curvature[row, c] == pytest.approx(4 / 3 * second, abs=1e-4)


@pytest.mark.parametrize("name", [None, "ap", "auc"])
def test_every_class_has_its_own_gradient_against_the_rest(name: str | None) -> None:
    binary = log_loss_gradient if name is None else gradient_of(name)
    found = OneVsRestGradient(binary)(SCORES, Rows(TARGET, WEIGHT))
    for c in range(4):
        wanted = binary(SCORES[:, c].copy(), Rows((c == TARGET).astype(float), WEIGHT))
        for part, own in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(part[:, c], own)
