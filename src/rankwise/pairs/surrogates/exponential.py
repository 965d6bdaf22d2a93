"""Surrogates of the sigmoid family and the exponential: summed as short sums of exponentials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.pairs._engine.tails import log1p_tail, rise, sigmoid_tail
from rankwise.pairs.forms import Piece
from rankwise.pairs.surrogates.base import Surrogate

_INF = math.inf


@dataclass(frozen=True)
class OneSidedSigmoid(Surrogate):
    """One-sided sigmoid: tanh(−x/2τ) for x < 0, else 0.

    Args:
        tau: Width τ.

    Example:
        >>> import torch
        >>> from rankwise.pairs import OneSidedSigmoid
        >>> OneSidedSigmoid()(torch.tensor([-2.0, 1.0]))  # tanh 1, 0
        tensor([0.7616, 0.0000])

    Reference:
        SOPRC, ℓ₂.
    """

    tau: float = 1.0
    bounds_below = True

    def value(self, x: Tensor) -> Tensor:
        return torch.tanh(torch.relu(x * (-0.5 / self.tau)))  # relu: no slope at a tie

    def derivative(self, x: Tensor) -> Tensor:
        steepness = -0.5 / self.tau * torch.cosh(x / (2 * self.tau)) ** -2
        return torch.where(x < 0, steepness, torch.zeros_like(x))

    def curvature(self, x: Tensor) -> Tensor:
        return self.value(x) * self.derivative(x) / self.tau

    def pieces(self, order: int = 0) -> tuple[Piece, ...]:
        rate = 1 / self.tau
        if order == 0:
            left = Piece(-_INF, 0.0, rise=rise(), rate=rate)
        else:
            factor = 2 * rate if order == 1 else -2 * rate**2
            left = Piece(-_INF, 0.0, decay=_times(factor, sigmoid_tail(order)), rate=rate)
        return left, Piece(0.0, _INF, rate=rate)


@dataclass(frozen=True)
class Logistic(Surrogate):
    """Logistic loss log(1 + e^(−s x)).

    Args:
        scale: Steepness s.

    Example:
        >>> import torch
        >>> from rankwise.pairs import Logistic
        >>> Logistic()(torch.tensor([-1.0, 0.0]))  # log(1 + e), log 2
        tensor([1.3133, 0.6931])

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", Table 2.3.
    """

    scale: float = 1.0

    def value(self, x: Tensor) -> Tensor:
        return -torch.nn.functional.logsigmoid(self.scale * x)

    def derivative(self, x: Tensor) -> Tensor:
        return -self.scale * torch.sigmoid(-self.scale * x)

    def curvature(self, x: Tensor) -> Tensor:
        return self.scale**2 * torch.sigmoid(-self.scale * x) * torch.sigmoid(self.scale * x)

    def pieces(self, order: int = 0) -> tuple[Piece, ...]:
        s = self.scale
        line: tuple[float, ...] = ((0.0, -s), (-s,), ())[order]
        tail = _times(s**order, log1p_tail(order))
        mirrored = _times((-1.0) ** order, tail)
        return (
            Piece(-_INF, 0.0, line, decay=mirrored, rate=s),
            Piece(0.0, _INF, decay=tail, rate=s),
        )


@dataclass(frozen=True)
class Sigmoid(Surrogate):
    """Sigmoid 1/(1 + e^(s x)); SmoothAP has s = 1/τ.

    Args:
        scale: Steepness s.

    Example:
        >>> import torch
        >>> from rankwise.pairs import Sigmoid
        >>> Sigmoid()(torch.tensor([-1.0, 0.0]))  # 1/(1 + e⁻¹), 1/2
        tensor([0.7311, 0.5000])

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", Table 2.3.
    """

    scale: float = 1.0
    symmetric: ClassVar[bool] = True

    def value(self, x: Tensor) -> Tensor:
        return torch.sigmoid(-self.scale * x)

    def derivative(self, x: Tensor) -> Tensor:
        return -self.scale * self.value(x) * self.value(-x)

    def curvature(self, x: Tensor) -> Tensor:
        return self.scale * self.derivative(x) * (self.value(x) - self.value(-x))

    def pieces(self, order: int = 0) -> tuple[Piece, ...]:
        s = self.scale
        level = (1.0,) if order == 0 else ()
        tail = _times(s**order, sigmoid_tail(order))
        mirrored = _times(-((-1.0) ** order), tail)
        return (
            Piece(-_INF, 0.0, level, decay=mirrored, rate=s),
            Piece(0.0, _INF, decay=tail, rate=s),
        )


@dataclass(frozen=True)
class Exponential(Surrogate):
    """Exponential loss e^(−s x), in linear time; it overflows beyond s·x ≈ −709.

    Args:
        scale: Steepness s.

    Example:
        >>> import torch
        >>> from rankwise.pairs import Exponential
        >>> Exponential()(torch.tensor([-1.0, 0.0]))
        tensor([2.7183, 1.0000])
    """

    scale: float = 1.0
    bounds_above = True

    def value(self, x: Tensor) -> Tensor:
        return torch.exp(-self.scale * x)

    def pieces(self, order: int = 0) -> tuple[Piece, ...]:
        return (Piece(-_INF, _INF, growth=(-self.scale) ** order, rate=self.scale),)


def _times(factor: float, coefficients: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(factor * coefficient for coefficient in coefficients)
