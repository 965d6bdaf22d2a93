"""pAp@k of a population: what the empirical risk of larger and larger samples tends to."""

from __future__ import annotations

import math

import torch

from rankwise.metrics import auroc
from rankwise.objectives.selection import hardest
from rankwise.theory.population import Population

__all__ = ["population_pap_risk"]


def population_pap_risk(
    population: Population, rate: float, positive_rate: float | None = None
) -> float:
    """1/(γ⁺γ⁻) · E[1{s⁺ ≤ s⁻}] over the top γ⁺ of positives and γ⁻ of negatives   (pAp@k Eq. 16).

    ``rate`` is γ⁻, which stands for k/n⁻. ``positive_rate`` is γ⁺; by default the paper's: 1 where
    the share of positives is at most γ⁻, and γ⁻ otherwise.
    """
    if positive_rate is None:
        positive_rate = 1.0 if population.prior <= rate else rate
    for name, value in (("rate", rate), ("positive_rate", positive_rate)):
        if not (math.isfinite(value) and 0 < value <= 1):
            raise ValueError(f"{name} must lie in (0, 1], got {value!r}")
    sides = []
    shares = ((population.positives, positive_rate), (population.negatives, rate))
    for scores, share in shares:
        row = scores.double().unsqueeze(0)
        sides.append(hardest(row, torch.ones_like(row), share * row.shape[-1]).squeeze(0))
    whole = torch.cat([population.positives, population.negatives]).double()
    target = torch.arange(len(whole)) < len(population.positives)
    gain = auroc(whole, target, weight=torch.cat(sides), ties="against")
    return 1 - float(torch.as_tensor(gain))
