"""The quantile vector of SOPRC: what the scores of all positives look like, seen batch by batch."""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["interpolate_quantiles"]


def interpolate_quantiles(
    scores: Tensor,
    weight: Tensor,
    points: int,
    *,
    low: float = -math.inf,
    high: float = math.inf,
) -> Tensor:
    """φ: the ``scores`` (lists, n) of every list as ``points`` quantiles   (SOPRC Algorithm 2).

    With u₁ ≤ … ≤ u_n, u₀ = max(2u₁ − u₂, low) and u_{n+1} = min(2u_n − u_{n−1}, high), entry j sits
    at p = (j − ½)/points, in the cell i = ⌊np⌋ + 1 at a = np − i + 1, and is the mean of the two
    chords ½[(1−a)u_{i−1} + a u_i] + ½[(1−a)u_i + a u_{i+1}]. Items of ``weight`` 0 are absent, 2 is
    twice; every list needs one item at least.
    """
    ordered, order = scores.masked_fill(weight == 0, torch.inf).sort(dim=-1)
    reach = weight.gather(-1, order).cumsum(-1)  # rank at which each item ends
    n = reach[:, -1:]
    position = n * (torch.arange(points, device=scores.device, dtype=n.dtype) + 0.5) / points
    cell = position.floor() + 1
    a = position - cell + 1
    ranks = torch.stack([cell - 1, cell, cell + 1])
    before, here, after = (_at_rank(ordered, reach, rank, low, high) for rank in ranks)
    return ((1 - a) * before + here + a * after) / 2


def _at_rank(ordered: Tensor, reach: Tensor, rank: Tensor, low: float, high: float) -> Tensor:
    """The item at a rank from 0 to n + 1, the ends continued by a straight line."""
    n = reach[:, -1:].round().clamp_min(1)

    def item(r: Tensor) -> Tensor:
        inside = torch.minimum(r.clamp_min(1), n)
        # The middle of the rank, or the last item there is where all of them weigh less than half.
        middle = torch.minimum(inside - 0.5, reach[:, -1:])
        return ordered.gather(-1, torch.searchsorted(reach, middle.contiguous()))

    first = (2 * item(torch.ones_like(n)) - item(torch.full_like(n, 2))).clamp_min(low)
    last = (2 * item(n) - item(n - 1)).clamp_max(high)
    return torch.where(rank < 1, first, torch.where(rank > n, last, item(rank)))
