"""The base of all surrogates, and of those whose pieces are polynomials."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache, cached_property
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.checks import require_positive
from rankwise.pairs.forms import PairForm, Piece, form_of

Polynomials = tuple[tuple[float, tuple[float, ...]], ...]
"""(where the piece starts, its coefficients of 1, x, x²) for every piece, left to right."""


class Surrogate(ABC):
    """Base class of pairwise surrogates ℓ(x) of the zero-one loss 1[x ≤ 0].

    A surrogate is a small frozen dataclass of positive numbers that can be compared, printed and
    passed on. It states its pieces, from which the engine sums it over all pairs in n log n.

    Example:
        >>> import torch
        >>> from rankwise.pairs import Hinge, Surrogate
        >>> isinstance(Hinge(), Surrogate), Hinge().bounds_above
        (True, True)
        >>> Hinge(margin=2.0).derivative(torch.tensor([-1.0, 3.0]))
        tensor([-1., -0.])
    """

    closed: ClassVar[bool] = False
    """Whether a break belongs to the piece on its left."""
    symmetric: ClassVar[bool] = False
    """Whether ℓ(x) + ℓ(−x) is a constant: a random share of wrong labels then scales the risk."""
    _positive: ClassVar[bool] = True  # whether all fields must be positive numbers

    def __post_init__(self) -> None:
        for name, value in vars(self).items() if self._positive else ():
            require_positive(name, value)

    @abstractmethod
    def value(self, x: Tensor) -> Tensor:
        """Return ℓ(x), written as in the papers and differentiable by autograd."""

    @abstractmethod
    def pieces(self, order: int = 0) -> tuple[Piece, ...]:
        """Return the pieces of the ``order``-th derivative, left to right (order 0, 1 or 2)."""

    @property
    def bounds_above(self) -> bool:
        """Whether ℓ ≥ ℓ₀₁ everywhere, so that the risk bounds the metric's error from above."""
        return False

    @property
    def bounds_below(self) -> bool:
        """Whether ℓ ≤ ℓ₀₁ everywhere."""
        return False

    def __call__(self, x: Tensor) -> Tensor:
        """Return ℓ(x)."""
        return self.value(x)

    def derivative(self, x: Tensor) -> Tensor:
        """Return ℓ'(x), exactly; at a break the derivative of the piece on the right."""
        return self._from_pieces(x, 1)

    def value_and_derivative(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return ℓ(x) and ℓ'(x) without a graph; a surrogate may share what both have in common."""
        return self.value(x), self.derivative(x)

    def curvature(self, x: Tensor) -> Tensor:
        """Return ℓ''(x), exactly, inside the pieces (a kink has none)."""
        return self._from_pieces(x, 2)

    @cache  # noqa: B019 - as for the forms
    def maximum(self, low: float, high: float) -> float:
        """Return the largest value on [low, high]: at an end, as surrogates are quasi-convex."""
        if not low <= high:
            raise ValueError(f"low must be <= high, got low={low!r} and high={high!r}")
        ends = torch.tensor([low, high], dtype=torch.float64)
        return float(self.value(ends).max())

    @cached_property
    def has_breaks(self) -> bool:
        """Whether ℓ has more than one piece; one piece is summed over pairs in linear time."""
        return bool(self.form().breaks)

    @cache  # noqa: B019 - a surrogate is a small value, and equal ones share their forms
    def form(self, order: int = 0) -> PairForm:
        """Return the ``order``-th derivative in the form that the engine sums."""
        return form_of(self.pieces(order), closed=self.closed)

    def _from_pieces(self, x: Tensor, order: int) -> Tensor:
        pieces = self.pieces(order)
        result = pieces[0](x)
        for piece in pieces[1:]:
            inside = x > piece.start if self.closed else x >= piece.start
            result = torch.where(inside, piece(x), result)
        return result


class PiecewisePolynomial(Surrogate):
    """A surrogate whose derivatives follow from its polynomials."""

    @abstractmethod
    def polynomials(self) -> Polynomials:
        """Return the pieces of ℓ itself."""

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
