"""Values worked out by hand, and the far ends where formulas overflow."""

from __future__ import annotations

import math

import pytest
import torch

from rankwise.pairs import Exponential, Logistic, OneSidedSigmoid, Sigmoid


@pytest.mark.parametrize(
    ("surrogate", "x", "value"),
    [
        (OneSidedSigmoid(0.5), [-1.0, 0.0, 1.0], [math.tanh(1.0), 0.0, 0.0]),
        (
            Logistic(2.0),
            [-1.0, 0.0, 1.0],
            [math.log1p(math.e**2), math.log(2), math.log1p(math.e**-2)],
        ),
        (Sigmoid(2.0), [-1.0, 0.0, 1.0], [1 / (1 + math.e**-2), 0.5, 1 / (1 + math.e**2)]),
        (Exponential(2.0), [-1.0, 0.0, 1.0], [math.e**2, 1.0, math.e**-2]),
    ],
    ids=str,
)
def test_worked_values(surrogate, x, value):
    assert surrogate(torch.tensor(x, dtype=torch.float64)).tolist() == pytest.approx(value)


@pytest.mark.parametrize("surrogate", [OneSidedSigmoid(1e-3), Logistic(1e3), Sigmoid(1e3)], ids=str)
def test_far_ends_are_finite(surrogate):
    x = torch.tensor([-1e4, 1e4], dtype=torch.float64)
    for function in (surrogate.value, surrogate.derivative, surrogate.curvature):
        assert torch.isfinite(function(x)).all()


@pytest.mark.parametrize("kind", [Logistic, Sigmoid, Exponential, OneSidedSigmoid])
def test_bad_parameters_are_named(kind):
    with pytest.raises(ValueError, match="must be a finite number > 0, got -1"):
        kind(-1)
