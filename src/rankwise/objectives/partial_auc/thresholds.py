"""Thresholds of CVaR that are kept between batches and descend by subgradients: SOPA."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.checks import require_positive
from rankwise.memory import FollowedAverage

__all__ = ["Thresholds"]


class Thresholds(FollowedAverage):
    """λ by key, one step at a visit down λ + (1/β)·mean(ℓ − λ)₊   (SOPA, Zhu et al. 2022).

    λ ← λ − η(1 − (1/β)·mean 1[ℓ > λ]), with ``level`` β and ``step`` η; it settles where the share
    β of all losses, of all batches, is above it. A key starts at the quantile of the first batch
    that shows it. Losses are not negative, so neither is λ. Steps are pending until the call ends,
    like the estimates of any followed average; several of one key are averaged.
    """

    def __init__(self, num_items: int, *, level: float, step: float) -> None:
        require_positive("threshold_rate", step)
        super().__init__(num_items, ema_rate=1.0)
        self.level, self.step = level, step

    def known(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """λ of the keys ``index`` (…) before this call, and whether they were ever visited."""
        return self.value[index].squeeze(-1), self.seen[index]

    @torch.no_grad()
    def descend(self, index: Tensor, start: Tensor, beyond: Tensor, present: Tensor) -> None:
        """One step for each key that is present, or its ``start`` where it has none yet.

        ``beyond`` is the share of the losses above λ. All are of the shape of ``index``.
        """
        threshold, seen = self.known(index)
        stepped = (threshold - self.step * (1 - beyond / self.level)).clamp_min(0)
        following = torch.where(seen, stepped.to(start.dtype), start)
        self.pending.append((index[present], following[present].unsqueeze(-1)))

    @property
    def columns(self) -> int:
        return 1

    def take_in_pending(self, index: Tensor, columns: Tensor) -> None:
        self(index, columns)
