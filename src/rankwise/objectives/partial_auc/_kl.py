"""Partial AUC as a KL-regularized worst case, in logarithms throughout: SOPA-s, SOTA-s."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from rankwise.checks import require_positive
from rankwise.lists import Lists
from rankwise.memory import FCCOAverage, MemoryUpdate
from rankwise.memory.fcco import tracked
from rankwise.pairs import Surrogate, pair_logsumexp
from rankwise.pairs.rows import accumulating


def temperature_for(name: str, temperature: float | None, share: float) -> float:
    """Return the given temperature, or τ = 1/√(2 log 1/share), for about that share of items.

    τ log mean e^{ℓ/τ} is the mean of ℓ under weights e^{ℓ/τ}, less τ·KL of these weights from
    equal ones. Equal weights on a share q of the items, and none on the others, have KL = log 1/q;
    losses of a normal distribution with spread σ have KL = σ²/2τ². They agree at this τ for σ = 1:
    losses with another spread want it times that spread.
    """
    if temperature is not None:
        require_positive(name, temperature)
        return temperature
    if share == 1:
        raise ValueError(
            f"{name} must be given for form='kl' where all items count: the share that chooses it "
            "is 1, and the temperature would be infinite"
        )
    return 1 / math.sqrt(2 * math.log(1 / share))


class KLOverNegatives(nn.Module):
    """τ log mean_{j∈N} exp(ℓ(s_i − s_j)/τ) at every positive   (EXM 2.3.3, KL-DRO).

    With ``num_items`` the mean is followed over the batches by item, u_i ← (1−γ)u_i + γ·mean_N, all
    in logarithms, and the gradient is that of FCCO: weights e^{ℓ_ij/τ}/u_i.
    """

    def __init__(
        self, surrogate: Surrogate, temperature: float, num_items: int | None, ema_rate: float
    ) -> None:
        super().__init__()
        self.surrogate, self.temperature = surrogate, temperature
        self.average = (
            None if num_items is None else FCCOAverage(num_items, ema_rate=ema_rate, log=True)
        )

    def forward(self, lists: Lists) -> tuple[Tensor, list[MemoryUpdate]]:
        """Return one value for each positive, (lists, positives)."""
        weight = accumulating(lists.negative_weight)
        # Shares inside the sum rather than minus log n⁻, which would cancel at high temperatures.
        log_mean = pair_logsumexp(
            self.surrogate,
            lists.positives,
            lists.negatives,
            temperature=self.temperature,
            weight=weight / weight.sum(-1, keepdim=True),
        )
        if self.average is not None:
            # In the dtype of the memory: at the first visit ĝ/u is then exactly 1.
            log_mean = log_mean.to(self.average.value.dtype)
        log_mean, updates = tracked(self.average, lists.item_ids, log_mean, lists.present)
        return self.temperature * log_mean, updates


class KLOverPositives(nn.Module):
    """τ log mean_{i∈P} exp(v_i/τ) of one value per positive   (SOTA-s).

    With an ``ema_rate`` the mean is followed over the batches, one number for all lists.
    """

    def __init__(self, temperature: float, ema_rate: float | None) -> None:
        super().__init__()
        self.temperature = temperature
        self.average = None if ema_rate is None else FCCOAverage(1, ema_rate=ema_rate, log=True)

    def forward(self, values: Tensor, lists: Lists) -> tuple[Tensor, list[MemoryUpdate]]:
        """Return one value for each list."""
        weight = accumulating(lists.positive_weight)
        share = weight / weight.sum(-1, keepdim=True)
        log_mean = torch.logsumexp(accumulating(values) / self.temperature + share.log(), dim=-1)
        if self.average is not None:
            log_mean = log_mean.to(self.average.value.dtype)
        key = torch.zeros_like(log_mean, dtype=torch.long)
        log_mean, updates = tracked(self.average, key, log_mean)
        return (self.temperature * log_mean).to(values.dtype), updates
