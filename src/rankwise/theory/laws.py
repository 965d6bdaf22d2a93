"""Distributions of scores in the simulations of SOPRC, by their quantile functions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from rankwise.checks import require_count, require_positive


class Law(Protocol):
    """A distribution of scores: p(u), its second derivative p''(u), and the density at a score."""

    def quantile(self, u: Tensor) -> Tensor:
        """Return p(u), the score below which the share u of the scores lies."""
        ...

    def curvature(self, u: Tensor) -> Tensor:
        """Return p''(u), by which Proposition 3 of SOPRC bounds the interpolation error."""
        ...

    def density(self, x: Tensor) -> Tensor:
        """Return the density at the scores x."""
        ...


@dataclass(frozen=True)
class Normal:
    """Normal distribution N(mean, 1).

    Args:
        mean: Mean.

    Example:
        >>> import torch
        >>> from rankwise.theory import Normal
        >>> Normal(1.0).quantile(torch.tensor([0.5]))
        tensor([1.])
    """

    mean: float = 0.0

    def quantile(self, u: Tensor) -> Tensor:
        standard: Tensor = torch.special.ndtri(u)
        return self.mean + standard

    def curvature(self, u: Tensor) -> Tensor:
        x = self.quantile(u)
        return (x - self.mean) / self.density(x) ** 2

    def density(self, x: Tensor) -> Tensor:
        return torch.exp(-((x - self.mean) ** 2) / 2) / math.sqrt(2 * math.pi)


@dataclass(frozen=True)
class Uniform:
    """Uniform distribution U(low, low + width).

    Args:
        low: Lower end.
        width: Width, positive.

    Example:
        >>> import torch
        >>> from rankwise.theory import Uniform
        >>> Uniform(0.5).quantile(torch.tensor([0.5]))
        tensor([1.])
    """

    low: float = 0.0
    width: float = 1.0

    def __post_init__(self) -> None:
        require_positive("width", self.width)

    def quantile(self, u: Tensor) -> Tensor:
        return self.low + self.width * u

    def curvature(self, u: Tensor) -> Tensor:
        return torch.zeros_like(u)

    def density(self, x: Tensor) -> Tensor:
        inside = (x >= self.low) & (x <= self.low + self.width)
        return inside.to(x.dtype) / self.width


@dataclass(frozen=True)
class Beta:
    """Beta distribution B(a, b) with integers a and b: its cumulative is a binomial sum.

    Args:
        a, b: Parameters, positive integers.

    Example:
        >>> import torch
        >>> from rankwise.theory import Beta
        >>> Beta(2, 2).quantile(torch.tensor([0.5]))
        tensor([0.5000])
    """

    a: int
    b: int

    def __post_init__(self) -> None:
        require_count("a", self.a)
        require_count("b", self.b)

    def quantile(self, u: Tensor) -> Tensor:
        low, high = torch.zeros_like(u), torch.ones_like(u)
        for _ in range(52):  # bisection down to double precision
            middle = (low + high) / 2
            below = self._cumulative(middle) < u
            low, high = torch.where(below, middle, low), torch.where(below, high, middle)
        return (low + high) / 2

    def curvature(self, u: Tensor) -> Tensor:
        x = self.quantile(u)
        slope = (self.a - 1) / x - (self.b - 1) / (1 - x)  # of the logarithm of the density
        return -slope / self.density(x) ** 2

    def density(self, x: Tensor) -> Tensor:
        inside = x.clamp(0, 1)
        height = self.a * math.comb(self.a + self.b - 1, self.a)
        value = height * inside ** (self.a - 1) * (1 - inside) ** (self.b - 1)
        return torch.where((x >= 0) & (x <= 1), value, torch.zeros_like(value))

    def _cumulative(self, x: Tensor) -> Tensor:
        n = self.a + self.b - 1
        terms = [math.comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(self.a, n + 1)]
        return torch.stack(terms).sum(0)
