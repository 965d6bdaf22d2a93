"""Laws of scores, populations of positives and negatives, their batches and their pAp@k."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count, require_each, require_positive
from rankwise.metrics import auroc, average_precision
from rankwise.objectives._selection import hardest


class Law(Protocol):
    """A distribution of scores: p(u), its second derivative p''(u), and the density at a score."""

    def quantile(self, u: Tensor) -> Tensor:
        """Return p(u), the score below which the share u of the scores lies."""

    def curvature(self, u: Tensor) -> Tensor:
        """Return p''(u), by which Proposition 3 of SOPRC bounds the interpolation error."""

    def density(self, x: Tensor) -> Tensor:
        """Return the density at the scores x."""


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
        require_each(require_count, a=self.a, b=self.b)

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


SIMULATIONS: Mapping[str, tuple[Law, Law]] = MappingProxyType(
    {
        "binormal": (Normal(1.0), Normal(0.0)),
        "bibeta": (Beta(5, 2), Beta(2, 5)),
        "offset uniform": (Uniform(0.5), Uniform(0.0)),
    }
)
"""The laws of the positives and of the negatives in SOPRC's Figure 3, by name."""


@dataclass(frozen=True)
class Population:
    """A finite population of scores.

    Args:
        positives: Scores of the positives, (n⁺,).
        negatives: Scores of the negatives, (n⁻,).

    Example:
        >>> import torch
        >>> from rankwise.theory import Population
        >>> population = Population(torch.tensor([0.9, 0.3]), torch.tensor([0.8, 0.1]))
        >>> population.prior, round(population.risk, 4)  # 1 − (1/1 + 2/3)/2
        (0.5, 0.1667)
    """

    positives: Tensor
    negatives: Tensor

    @property
    def prior(self) -> float:
        """π, the share of positives."""
        return len(self.positives) / (len(self.positives) + len(self.negatives))

    @cached_property
    def risk(self) -> float:
        """1 − AUPRC, which with the population's own π is 1 − AP."""
        scores = torch.cat([self.positives, self.negatives])
        return 1 - float(average_precision(scores, torch.arange(len(scores)) < len(self.positives)))

    def draw(
        self, lists: int, n_positives: int, n_negatives: int, rng: np.random.Generator
    ) -> Tensor:
        """Draw independent batches (lists, n⁺ + n⁻), positives first, no item twice in a batch."""
        sides = ((self.positives, n_positives), (self.negatives, n_negatives))
        for name, (scores, n) in zip(("n_positives", "n_negatives"), sides, strict=True):
            require_count(name, n)
            if n > len(scores):
                raise ValueError(f"{name} must be at most the population's {len(scores)}, got {n}")
        drawn = [
            scores[rng.choice(len(scores), n, replace=False, shuffle=False)]
            for _ in range(lists)
            for scores, n in sides
        ]
        return torch.cat(drawn).view(lists, -1)


def simulate(name: str, *, size: int = 100_000, prior: float = 0.1, seed: int = 0) -> Population:
    """Draw a population of one of :data:`SIMULATIONS`.

    Args:
        name: Name of the simulation: ``"binormal"``, ``"bibeta"`` or ``"offset uniform"``.
        size: Number of scores.
        prior: Share of positives.
        seed: Seed of the scores.

    Returns:
        The population.

    Example:
        >>> from rankwise.theory import simulate
        >>> simulate("binormal", size=1000, prior=0.1).prior
        0.1
    """
    if name not in SIMULATIONS:
        raise ValueError(f"name must be one of {', '.join(SIMULATIONS)}, got {name!r}")
    n_positives = round(prior * size)
    if not 0 < n_positives < size:
        raise ValueError(f"prior must leave both classes among {size} scores, got {prior!r}")
    generator = torch.Generator().manual_seed(seed)

    def drawn(law: Law, n: int) -> Tensor:
        return law.quantile(torch.rand(n, generator=generator, dtype=torch.float64))

    positives, negatives = SIMULATIONS[name]
    return Population(drawn(positives, n_positives), drawn(negatives, size - n_positives))


def population_pap_risk(
    population: Population, rate: float, positive_rate: float | None = None
) -> float:
    """Compute 1/(γ⁺γ⁻) · E[1{s⁺ ≤ s⁻}] over the top γ⁺ of positives and γ⁻ of negatives.

    The empirical pAp@k risk of larger and larger samples tends to it.

    Args:
        population: The population.
        rate: γ⁻, which stands for k/n⁻, in (0, 1].
        positive_rate: γ⁺; by default that of the paper: 1 where the share of positives is at most
            γ⁻, and γ⁻ otherwise.

    Returns:
        The risk.

    Example:
        >>> import torch
        >>> from rankwise.theory import Population, population_pap_risk
        >>> population = Population(torch.tensor([0.9, 0.3]), torch.tensor([0.8, 0.1]))
        >>> population_pap_risk(population, rate=0.5)  # 0.9 and 0.3 against the top half, 0.8
        0.5

    Reference:
        Hiranandani et al. 2020, "Optimization and Analysis of the pAp@k Metric", Eq. 16.
    """
    if positive_rate is None:
        positive_rate = 1.0 if population.prior <= rate else rate
    for name, value in (("rate", rate), ("positive_rate", positive_rate)):
        if not (math.isfinite(value) and 0 < value <= 1):
            raise ValueError(f"{name} must lie in (0, 1], got {value!r}")
    parts = population.positives.double(), population.negatives.double()
    sides = [
        hardest(part[None], torch.ones_like(part)[None], share * len(part)).squeeze(0)
        for part, share in zip(parts, (positive_rate, rate), strict=True)
    ]
    whole = torch.cat(parts)
    target = torch.arange(len(whole)) < len(population.positives)
    gain = auroc(whole, target, weight=torch.cat(sides), ties="against")
    return 1 - float(torch.as_tensor(gain))
