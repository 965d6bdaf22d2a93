"""Values worked out by hand from the papers' formulas."""

from __future__ import annotations

import pytest
import torch

from rankwise.pairs import (
    BarrierHinge,
    Hinge,
    Linear,
    OneSidedHuber,
    Square,
    SquaredHinge,
    ZeroOne,
)


@pytest.mark.parametrize(
    ("surrogate", "x", "value"),
    [
        (ZeroOne(), [-1.0, 0.0, 1e-9], [1.0, 1.0, 0.0]),
        (OneSidedHuber(0.5), [-1.0, 0.0, 0.25, 0.5], [1 + 2 / 0.5, 1.0, (1 - 0.5) ** 2, 0.0]),
        (SquaredHinge(2.0), [-1.0, 1.0, 3.0], [3.0**2, 1.0, 0.0]),
        (Hinge(2.0), [-1.0, 1.0, 3.0], [3.0, 1.0, 0.0]),
        (Square(2.0), [-1.0, 1.0, 3.0], [3.0**2, 1.0, 1.0]),
        # s = 2, c = 1: −2(1+x)+1 left of −2, 1 − x up to 1, 2(x − 1) beyond
        (BarrierHinge(2.0, 1.0), [-3.0, -2.0, 0.0, 1.0, 2.0], [5.0, 3.0, 1.0, 0.0, 2.0]),
        (Linear(0.5), [-1.0, 2.0], [1.5, -1.5]),
    ],
    ids=str,
)
def test_worked_values(surrogate, x, value):
    assert surrogate(torch.tensor(x)).tolist() == pytest.approx(value)


@pytest.mark.parametrize(
    "surrogate",
    [
        Hinge(2.0),
        SquaredHinge(2.0),
        Square(2.0),
        Linear(0.5),
        OneSidedHuber(0.5),
        BarrierHinge(3, 2),
    ],
    ids=str,
)
def test_the_polynomials_are_the_value(surrogate):
    x = torch.linspace(-5, 5, 101, dtype=torch.float64) + 1e-3  # between the breaks
    for piece in surrogate.pieces():
        inside = x[(piece.start < x) & (piece.stop > x)]
        torch.testing.assert_close(piece(inside), surrogate.value(inside))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OneSidedHuber(0.0), "tau must be a finite number > 0, got 0.0"),
        (lambda: Hinge(-1.0), "margin must be"),
        (lambda: SquaredHinge(float("nan")), "margin must be"),
        (lambda: Square(float("inf")), "margin must be"),
        (lambda: BarrierHinge(-2.0, 1.0), "scale must be"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_huber_is_continuous_and_bounds_where_the_misprint_would_not():
    at_zero = OneSidedHuber(0.1)(torch.tensor([-1e-12, 0.0], dtype=torch.float64))
    assert at_zero.tolist() == pytest.approx([1.0, 1.0])
