"""A population of scored positives and negatives to draw batches from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count
from rankwise.metrics import average_precision
from rankwise.theory.laws import Beta, Law, Normal, Uniform

__all__ = ["SIMULATIONS", "Population", "simulate"]

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
    """All the scores there are, of positives and of negatives, each one-dimensional."""

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
        """Independent batches (lists, n⁺ + n⁻), positives first, no item twice in a batch."""
        for name, wanted, there in (
            ("n_positives", n_positives, len(self.positives)),
            ("n_negatives", n_negatives, len(self.negatives)),
        ):
            require_count(name, wanted)
            if wanted > there:
                raise ValueError(f"{name} must be at most the population's {there}, got {wanted}")
        batches = []
        for _ in range(lists):
            above = rng.choice(len(self.positives), n_positives, replace=False, shuffle=False)
            below = rng.choice(len(self.negatives), n_negatives, replace=False, shuffle=False)
            batches.append(
                torch.cat(
                    [
                        self.positives[torch.from_numpy(above)],
                        self.negatives[torch.from_numpy(below)],
                    ]
                )
            )
        return torch.stack(batches)


def simulate(name: str, *, size: int = 100_000, prior: float = 0.1, seed: int = 0) -> Population:
    """A population of one of :data:`SIMULATIONS`, ``size`` scores with the share ``prior``."""
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
