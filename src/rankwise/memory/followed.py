"""Estimates replaced by their moving averages, with the gradient of the estimates: FCCO."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.memory.average import MovingAverage

__all__ = ["FollowedAverage"]


class FollowedAverage(MovingAverage):
    """u_i in place of ĝ_i inside a non-linear f: the value f(u_i), the gradient ∇f(u_i)·∇ĝ_i.

    Finite-sum coupled compositional optimization (EXM 2.3): f(ĝ_i) of a batch is biased where f is
    not linear; u_i, the average of all the batches that showed i, is not in the limit.
    :meth:`follow` gives u_i; whatever function is applied to it has the gradient above. A call's
    estimates are kept in ``pending`` until all of them were followed, then taken in at once.
    """

    def __init__(
        self,
        num_items: int,
        width: int = 1,
        *,
        ema_rate: float,
        log: bool = False,
        correction: float | None = None,
    ) -> None:
        super().__init__(num_items, width, ema_rate=ema_rate, log=log, correction=correction)
        self.pending: list[tuple[Tensor, Tensor]] = []

    def follow(
        self,
        index: Tensor,
        estimate: Tensor,
        present: Tensor,
        *,
        previous: Tensor | None = None,
    ) -> Tensor:
        """u of every key in ``index`` (…), for estimates (…, width); absent ones teach nothing.

        ``previous`` are the estimates under the previous parameters. With ``log`` estimates and
        result are logarithms.
        """
        known = self.preview(index, estimate, previous).to(estimate.dtype)
        columns = estimate
        if not self.log:  # all processes send the same columns, also those that have no previous
            columns = torch.cat([estimate, estimate if previous is None else previous], -1)
        self.pending.append((index[present], columns[present].detach()))
        moves = estimate - estimate.detach()
        if self.log:
            # d log ĝ = dĝ/ĝ, so the step from u is ĝ/u of it; u ≥ rate·ĝ bounds that in training.
            share = (estimate.detach() - known).clamp_max(-math.log(self.ema_rate)).exp()
            moves = share * moves
        return known + moves

    @property
    def columns(self) -> int:
        """Numbers kept of every pending estimate."""
        width = self.value.shape[1]
        return width if self.log else 2 * width

    def take_in_pending(self, index: Tensor, columns: Tensor) -> None:
        """Learn the estimates of a call, with the previous ones beside them."""
        width = self.value.shape[1]
        self(index, columns[:, :width], previous=None if self.log else columns[:, width:])
