"""The fits against the functions themselves, in relative error."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.pairs._engine.tails import TAIL_ERROR, log1p_tail, rise, sigmoid_tail

Y = np.concatenate([np.linspace(1e-4, 40, 100_001), np.geomspace(1e-6, 700, 1000)])
Z = np.exp(-Y)


def decays(factors: tuple[float, ...]) -> np.ndarray:
    return sum(factor * np.exp(-k * Y) for k, factor in enumerate(factors, start=1))


@pytest.mark.parametrize(
    ("fit", "function", "error"),
    [
        (decays(sigmoid_tail(0)), Z / (1 + Z), 2e-9),
        (decays(sigmoid_tail(1)), -Z / (1 + Z) ** 2, 3e-8),
        (decays(sigmoid_tail(2)), -Z * np.expm1(-Y) / (1 + Z) ** 3, 4e-7),
        (decays(log1p_tail(0)), np.log1p(Z), 2e-10),
        (decays(log1p_tail(1)), -Z / (1 + Z), 2e-9),
        (decays(log1p_tail(2)), Z / (1 + Z) ** 2, 3e-8),
        (
            sum(-factor * np.expm1(-k * Y) for k, factor in enumerate(rise(), start=1)),
            np.tanh(Y / 2),
            2e-9,
        ),
    ],
)
def test_relative_error(fit, function, error):
    measured = np.max(np.abs(fit / function - 1))
    assert measured <= error <= TAIL_ERROR


def test_there_are_three_orders():
    with pytest.raises(ValueError, match="order must be 0, 1 or 2, got 3"):
        sigmoid_tail(3)
