"""Quantile vector of SOPRC: the distribution of the scores of the positives."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor


def interpolate_quantiles(
    scores: Tensor,
    weight: Tensor | None,
    points: int,
    *,
    low: float = -math.inf,
    high: float = math.inf,
) -> Tensor:
    """Interpolate quantiles of the scores of every list.

    With u₁ ≤ … ≤ u_n, u₀ = max(2u₁ − u₂, low) and u_{n+1} = min(2u_n − u_{n−1}, high), entry j is
    at p = (j − ½)/points, in the cell i = ⌊np⌋ + 1 at a = np − i + 1, and is the mean of the two
    chords ½[(1−a)u_{i−1} + a u_i] + ½[(1−a)u_i + a u_{i+1}].

    Args:
        scores: Shape (lists, n); every list needs at least one item of positive weight.
        weight: Shape (lists, n); 0 for absent items, 2 counts twice. None: every item counts once.
        points: Number of quantiles.
        low: Lower bound of u₀.
        high: Upper bound of u_{n+1}.

    Returns:
        φ, shape (lists, points), ascending.

    Example:
        >>> import torch
        >>> from rankwise.memory import interpolate_quantiles
        >>> scores = torch.tensor([[3.0, 0.0, 2.0, 1.0]])
        >>> interpolate_quantiles(scores, None, 2)
        tensor([[0.5000, 2.5000]])

    Reference:
        SOPRC, Algorithm 2.
    """
    dtype = torch.promote_types(scores.dtype, torch.float32)
    # In float32 the mean of equal scores of 1e9 is not that score, but above or below it.
    wide = dtype if scores.is_mps else torch.float64
    scores = scores.to(wide)
    if weight is None:
        ordered = scores.sort(dim=-1).values
        return _of_whole_rows(ordered, points, low, high).to(dtype)
    weight = weight.to(wide)
    ordered, order = scores.masked_fill(weight == 0, torch.inf).sort(dim=-1)
    reach = weight.gather(-1, order).cumsum(-1)  # rank at which each item ends
    n = reach[:, -1:]
    position = n * (torch.arange(points, device=scores.device, dtype=n.dtype) + 0.5) / points
    cell = position.floor() + 1
    a = position - cell + 1
    # One search for all ranks, including the four that extrapolate the ends.
    whole = n.round().clamp_min(1)
    ends = torch.cat([torch.ones_like(n), torch.full_like(n, 2.0), whole - 1, whole], dim=-1)
    found = _at_rank(ordered, reach, torch.cat([cell - 1, cell, cell + 1, ends], dim=-1), whole)
    before, here, after = torch.split(found[:, :-4], points, dim=-1)
    first, second, last_but_one, last = found[:, -4:].split(1, dim=-1)
    before = torch.where(cell - 1 < 1, (2 * first - second).clamp_min(low), before)
    after = torch.where(cell + 1 > whole, (2 * last - last_but_one).clamp_max(high), after)
    return (((1 - a) * before + here + a * after) / 2).to(dtype)


def _of_whole_rows(ordered: Tensor, points: int, low: float, high: float) -> Tensor:
    """Interpolate lists of n items of weight 1, where φ is linear but for its ends."""
    n = ordered.shape[-1]
    step = min(1, n - 1)  # a single item extrapolates to itself
    first = (2 * ordered[:, :1] - ordered[:, step : step + 1]).clamp_min(low)
    last = (2 * ordered[:, -1:] - ordered[:, n - 1 - step : n - step]).clamp_max(high)
    make = _cached_chords if n <= _CACHED else _chords
    chords = make(n, points, ordered.dtype, ordered.device)
    return torch.cat([first, ordered, last], dim=-1) @ chords


def _chords(n: int, points: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """The weights (n + 2, points) of u₀ … u_{n+1} in every entry."""
    position = n * (torch.arange(points, device=device, dtype=dtype) + 0.5) / points
    cell = position.floor()
    a, where = position - cell, cell.long().unsqueeze(0)
    return torch.zeros(n + 2, points, dtype=dtype, device=device).scatter_(
        0,
        torch.cat([where, where + 1, where + 2]),
        torch.stack([(1 - a) / 2, torch.full_like(a, 0.5), a / 2]),
    )


_CACHED = 1 << 10  # largest n whose chords are kept: batches of one size ask for them every step
_cached_chords = lru_cache(maxsize=32)(_chords)


def _at_rank(ordered: Tensor, reach: Tensor, rank: Tensor, whole: Tensor) -> Tensor:
    """Return the item at a rank from 1 to n; beyond, the first or the last."""
    inside = torch.minimum(rank.clamp_min(1), whole)
    # The middle of the rank, or the last item there is where all of them weigh less than half.
    middle = torch.minimum(inside - 0.5, reach[:, -1:])
    return ordered.gather(-1, torch.searchsorted(reach, middle.contiguous()))
