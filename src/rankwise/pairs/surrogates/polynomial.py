"""Surrogates made of polynomials: summed exactly by prefix sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.checks import require_positive
from rankwise.pairs.surrogates.base import PiecewisePolynomial, Polynomials

__all__ = [
    "BarrierHinge",
    "Hinge",
    "Linear",
    "OneSidedHuber",
    "Square",
    "SquaredHinge",
    "ZeroOne",
]

_INF = math.inf


@dataclass(frozen=True)
class ZeroOne(PiecewisePolynomial):
    """1 if x ≤ 0 else 0: the loss itself, ties against the ranking. Its gradient is zero."""

    closed: ClassVar[bool] = True

    def value(self, x: Tensor) -> Tensor:
        return (x <= 0).to(x.dtype) + 0 * x  # keeps a graph, with the gradient it has: zero

    def polynomials(self) -> Polynomials:
        return (-_INF, (1.0,)), (0.0, ())

    @property
    def bounds_above(self) -> bool:
        return True

    @property
    def bounds_below(self) -> bool:
        return True


@dataclass(frozen=True)
class OneSidedHuber(PiecewisePolynomial):
    """x<0: 1 − 2x/τ; 0≤x<τ: (1 − x/τ)²; else 0   (SOPRC ℓ₁, StableAP 7)."""

    tau: float = 1.0

    def __post_init__(self) -> None:
        require_positive("tau", self.tau)

    def value(self, x: Tensor) -> Tensor:
        slack = (1 - x / self.tau).clamp_min(0)
        return torch.where(x < 0, 1 - 2 * x / self.tau, slack * slack)

    def derivative(self, x: Tensor) -> Tensor:
        return (x.clamp_min(0) - self.tau).clamp_max(0) * (2 / self.tau**2)

    def polynomials(self) -> Polynomials:
        slope = -2 / self.tau
        return (-_INF, (1.0, slope)), (0.0, (1.0, slope, self.tau**-2)), (self.tau, ())

    @property
    def bounds_above(self) -> bool:
        return True


@dataclass(frozen=True)
class SquaredHinge(PiecewisePolynomial):
    """(c − x)₊²   (EXM Table 2.3)."""

    margin: float = 1.0

    def __post_init__(self) -> None:
        require_positive("margin", self.margin)

    def value(self, x: Tensor) -> Tensor:
        slack = (self.margin - x).clamp_min(0)
        return slack * slack

    def derivative(self, x: Tensor) -> Tensor:
        return 2 * (x - self.margin).clamp_max(0)

    def polynomials(self) -> Polynomials:
        c = self.margin
        return (-_INF, (c * c, -2 * c, 1.0)), (c, ())

    @property
    def bounds_above(self) -> bool:
        return self.margin >= 1


@dataclass(frozen=True)
class Hinge(PiecewisePolynomial):
    """(c − x)₊   (EXM Table 2.3)."""

    margin: float = 1.0

    def __post_init__(self) -> None:
        require_positive("margin", self.margin)

    def value(self, x: Tensor) -> Tensor:
        return torch.relu(self.margin - x)

    def derivative(self, x: Tensor) -> Tensor:
        return -(x < self.margin).to(x.dtype)

    def polynomials(self) -> Polynomials:
        return (-_INF, (self.margin, -1.0)), (self.margin, ())

    @property
    def bounds_above(self) -> bool:
        return self.margin >= 1


@dataclass(frozen=True)
class Square(PiecewisePolynomial):
    """(c − x)², in linear time   (EXM Table 2.3)."""

    margin: float = 1.0

    def __post_init__(self) -> None:
        require_positive("margin", self.margin)

    def value(self, x: Tensor) -> Tensor:
        slack = self.margin - x
        return slack * slack

    def polynomials(self) -> Polynomials:
        c = self.margin
        return ((-_INF, (c * c, -2 * c, 1.0)),)

    @property
    def bounds_above(self) -> bool:
        return self.margin >= 1


@dataclass(frozen=True)
class BarrierHinge(PiecewisePolynomial):
    """max(−s(c + x) + c, max(s(x − c), c − x))   (EXM Table 2.3)."""

    scale: float = 2.0
    margin: float = 1.0

    def __post_init__(self) -> None:
        require_positive("scale", self.scale)
        require_positive("margin", self.margin)

    def _lines(self) -> tuple[tuple[float, float], ...]:
        s, c = self.scale, self.margin
        return (c - s * c, -s), (c, -1.0), (-s * c, s)

    def value(self, x: Tensor) -> Tensor:
        barrier, hinge, wall = (level + slope * x for level, slope in self._lines())
        return torch.maximum(barrier, torch.maximum(wall, hinge))

    def polynomials(self) -> Polynomials:
        """The upper envelope of the three lines, walked from the steepest to the flattest."""
        lines = sorted(self._lines(), key=lambda line: (line[1], -line[0]))
        start, (level, slope) = -_INF, lines[0]
        envelope = [(start, (level, slope))]
        while True:
            # Where each flatter line overtakes this one; of two with equal slopes the higher does.
            crossings = [((level - b) / (m - slope), -m, b) for b, m in lines if m > slope]
            if not crossings:
                return tuple(envelope)
            start, negative_slope, level = min(crossings)
            slope = -negative_slope
            envelope.append((start, (level, slope)))

    @property
    def bounds_above(self) -> bool:
        return self.margin >= 1


@dataclass(frozen=True)
class Linear(PiecewisePolynomial):
    """c − x, in linear time: what log-sum-exp of a contrastive or listwise loss adds up."""

    margin: float = 0.0

    def value(self, x: Tensor) -> Tensor:
        return self.margin - x

    def polynomials(self) -> Polynomials:
        return ((-_INF, (self.margin, -1.0)),)
