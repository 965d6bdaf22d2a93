"""What every surrogate can say of itself, and those whose pieces are polynomials."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.pairs.forms import PairForm, Piece, form_of

__all__ = ["PairFunction", "PiecewisePolynomial", "Polynomials", "Surrogate"]

Polynomials = tuple[tuple[float, tuple[float, ...]], ...]
"""(where the piece starts, its coefficients of 1, x, x²) for every piece, left to right."""


class Surrogate(ABC):
    """A function of one difference that states everything the engine and the objectives need."""

    closed: ClassVar[bool] = False
    """Whether a break belongs to the piece on its left."""

    @abstractmethod
    def value(self, x: Tensor) -> Tensor:
        """ℓ(x), written as the papers print it and differentiable by autograd."""

    @abstractmethod
    def pieces(self, order: int = 0) -> tuple[Piece, ...]:
        """The pieces of the ``order``-th derivative, left to right (order 0, 1 or 2)."""

    @property
    def bounds_above(self) -> bool:
        """Whether ℓ ≥ ℓ₀₁ everywhere, so that the risk bounds the metric's error from above."""
        return False

    @property
    def bounds_below(self) -> bool:
        """Whether ℓ ≤ ℓ₀₁ everywhere."""
        return False

    def __call__(self, x: Tensor) -> Tensor:
        """ℓ(x)."""
        return self.value(x)

    def derivative(self, x: Tensor) -> Tensor:
        """ℓ'(x), exactly; at a break the derivative of the piece on the right."""
        return self._from_pieces(x, 1)

    def curvature(self, x: Tensor) -> Tensor:
        """ℓ''(x), exactly, inside the pieces (a kink has none)."""
        return self._from_pieces(x, 2)

    def maximum(self, low: float, high: float) -> float:
        """The largest value on [low, high]. Every surrogate is quasi-convex: it is at an end."""
        if not low <= high:
            raise ValueError(f"low must be <= high, got low={low!r} and high={high!r}")
        ends = torch.tensor([low, high], dtype=torch.float64)
        return float(self.value(ends).max())

    def form(self, order: int = 0) -> PairForm:
        """The ``order``-th derivative in the shape the engine sums."""
        return _form(self, order)

    def _from_pieces(self, x: Tensor, order: int) -> Tensor:
        pieces = self.pieces(order)
        result = pieces[0](x)
        for piece in pieces[1:]:
            inside = x > piece.start if self.closed else x >= piece.start
            result = torch.where(inside, piece(x), result)
        return result


@cache
def _form(surrogate: Surrogate, order: int) -> PairForm:
    return form_of(surrogate.pieces(order), closed=surrogate.closed)


class PiecewisePolynomial(Surrogate):
    """A surrogate whose derivatives follow from its polynomials."""

    @abstractmethod
    def polynomials(self) -> Polynomials:
        """The pieces of ℓ itself."""

    def pieces(self, order: int = 0) -> tuple[Piece, ...]:
        starts, polynomials = zip(*self.polynomials(), strict=True)
        for _ in range(order):
            polynomials = tuple(
                tuple(degree * factor for degree, factor in enumerate(p) if degree)
                for p in polynomials
            )
        stops = (*starts[1:], math.inf)
        return tuple(Piece(*piece) for piece in zip(starts, stops, polynomials, strict=True))


PairFunction = Surrogate | Callable[[Tensor], Tensor]
"""A surrogate, or any elementwise function of the differences."""
