"""What every surrogate says of itself, checked against its own value."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from tests.pairs.cases import SURROGATES

from rankwise import pairs
from rankwise.pairs import BarrierHinge, Hinge, Square, SquaredHinge, ZeroOne

X = torch.linspace(-7, 7, 14_001, dtype=torch.float64)
ALL = [*SURROGATES, Hinge(1.0), SquaredHinge(1.0), Square(0.9), BarrierHinge(1.0, 1.0)]


def away_from_breaks(surrogate) -> torch.Tensor:
    breaks = torch.tensor([*surrogate.form().breaks, torch.inf], dtype=torch.float64)
    return X[(X[:, None] - breaks).abs().min(-1).values > 1e-9]


@pytest.mark.parametrize("surrogate", ALL, ids=str)
def test_derivatives_are_those_of_the_value(surrogate):
    x = away_from_breaks(surrogate).requires_grad_()
    (slope,) = torch.autograd.grad(surrogate.value(x).sum(), x)
    torch.testing.assert_close(surrogate.derivative(x.detach()), slope, rtol=1e-12, atol=1e-12)
    x = x.detach().requires_grad_()
    derivative = surrogate.derivative(x)
    curvature = torch.zeros_like(x)
    if derivative.requires_grad:
        (curvature,) = torch.autograd.grad(derivative.sum(), x)
    torch.testing.assert_close(surrogate.curvature(x.detach()), curvature, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("surrogate", ALL, ids=str)
def test_pieces_tile_the_line_and_give_the_value(surrogate):
    pieces = surrogate.pieces()
    assert pieces[0].start == -torch.inf
    assert pieces[-1].stop == torch.inf
    for left, right in pairwise(pieces):
        assert left.stop == right.start
    for piece in pieces:
        inside = X[(piece.start < X) & (piece.stop > X)]
        torch.testing.assert_close(piece(inside), surrogate.value(inside), rtol=2e-9, atol=1e-9)


@pytest.mark.parametrize("surrogate", ALL, ids=str)
def test_bounds_are_what_they_say(surrogate):
    value, truth = surrogate.value(X), ZeroOne().value(X)
    assert surrogate.bounds_above == bool((value >= truth - 1e-12).all())
    assert surrogate.bounds_below == bool((value <= truth + 1e-12).all())


@pytest.mark.parametrize("surrogate", ALL, ids=str)
@pytest.mark.parametrize(("low", "high"), [(-7.0, 7.0), (-2.0, 0.5), (0.0, 0.0), (1.0, 7.0)])
def test_maximum_on_a_range(surrogate, low, high):
    inside = X[(low - 1e-9 <= X) & (high + 1e-9 >= X)]
    assert surrogate.maximum(low, high) == pytest.approx(float(surrogate.value(inside).max()))


def test_one_piece_has_no_breaks():
    assert Hinge().has_breaks is True
    assert Square().has_breaks is False


def test_maximum_of_an_empty_range():
    with pytest.raises(ValueError, match="low must be <= high, got low=2 and high=1"):
        Hinge().maximum(2, 1)


@pytest.mark.parametrize("surrogate", ALL, ids=str)
def test_small_objects(surrogate):
    assert (
        eval(repr(surrogate), {name: getattr(pairs, name) for name in pairs.__all__}) == surrogate
    )
    assert len({surrogate, type(surrogate)(**vars(surrogate))}) == 1
    assert torch.equal(surrogate(X), surrogate.value(X))


@pytest.mark.parametrize("surrogate", ALL, ids=str)
def test_symmetric_ones_and_no_others_add_up_to_a_constant(surrogate):
    x = torch.cat([X, torch.zeros(1, dtype=X.dtype)])
    both = surrogate.value(x) + surrogate.value(-x)
    constant = bool((both - both[0]).abs().max() < 1e-9)
    assert surrogate.symmetric == constant


def test_a_barrier_hinge_is_symmetric_up_to_its_margin():
    surrogate = BarrierHinge(10.0, 5.0)
    inside = X[X.abs() <= 5]
    torch.testing.assert_close(
        surrogate.value(inside) + surrogate.value(-inside), torch.full_like(inside, 10.0)
    )
    assert surrogate.value(X[-1:]) + surrogate.value(-X[-1:]) > 10
