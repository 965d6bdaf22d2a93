"""The mean over the orders of tied items of what a user gains who stops at each with a chance.

Among m tied items the chance to pass the first j of them, over all orders, is the mean E_j of the
products of j of their chances to go on: e_j/C(m, j), e_j the elementary symmetric polynomial. The
chance to stop at the j-th is then E_{j−1} − E_j.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.metrics.ranking import Ranking, mass_above, ratio, require_ranks

_NAME = "expected_reciprocal_rank"
_MOST_RANKS, _MOST_TIED = 1 << 20, 1 << 14  # the work is the first, and the square of the second


def expected_over_orders(ranking: Ranking, stop: Tensor, last: float) -> Tensor:
    """Return Σ_j (E_{j−1} − E_j)/(above + j) of each level, its ranks above + j up to ``last``.

    ``stop`` is the chance to stop at each item, (rows, items) as they are ranked; weights are whole
    numbers.
    """
    above, mass = mass_above(ranking.mass), ranking.mass
    mean = ratio(ranking.per_level(stop), mass)
    mixed = _mixed(ranking, stop)
    found = torch.where(mixed, 0.0, _of_equal_items(mean, above, mass.masked_fill(mixed, 0), last))
    rows, levels = torch.nonzero(mixed & (mass > 0) & (above < last), as_tuple=True)
    if len(rows):
        values = _of_mixed_items(ranking, stop, (rows, levels), above[rows, levels], last)
        found = found.index_put((rows, levels), values)
    return found


def _mixed(ranking: Ranking, stop: Tensor) -> Tensor:
    """Return which levels hold different chances, one row for every row of weights."""
    if not ranking.tied:
        return torch.zeros_like(ranking.mass, dtype=torch.bool)
    ends = [
        stop.new_zeros(len(stop), ranking.levels).scatter_reduce(
            -1, ranking.level, stop, reduce, include_self=False
        )
        for reduce in ("amin", "amax")
    ]
    return (ends[0] < ends[1]).expand_as(ranking.mass)


def _of_equal_items(stop: Tensor, above: Tensor, mass: Tensor, last: float) -> Tensor:
    """Return the same where all items of a level have one chance: E_j is its j-th power."""
    found = torch.zeros_like(mass)
    ranks = torch.minimum(mass, last - above).masked_fill(stop == 0, 0)
    deepest = int(ranks.max()) if ranks.numel() else 0
    for j in range(1, min(deepest, _MOST_RANKS) + 1):
        gain = torch.where(j <= ranks, stop * (1 - stop) ** (j - 1) / (above + j), 0.0)
        if not bool((found + gain > found).any()):  # and those after it are smaller
            break
        found = found + gain
    else:
        require_ranks(deepest, _NAME, _MOST_RANKS)
    return found


def _of_mixed_items(
    ranking: Ranking, stop: Tensor, places: tuple[Tensor, Tensor], above: Tensor, last: float
) -> Tensor:
    """Return the same of some levels by adding their items to E one after the other."""
    rows, levels = places
    row = rows if len(stop) > 1 else torch.zeros_like(rows)  # one order may carry many weights
    first = torch.searchsorted(ranking.level[row], levels[:, None]).squeeze(1)
    size = torch.searchsorted(ranking.level[row], levels[:, None], right=True).squeeze(1) - first
    mass = ranking.mass[rows, levels]
    deepest = int(torch.minimum(mass, last - above).max())
    if bool((ranking.weight > 1).any()):  # each item is added as often as it counts
        name = f"{_NAME} of tied items of different relevance"
        require_ranks(float(mass.max()), name, _MOST_TIED)
    j = torch.arange(deepest + 1, dtype=stop.dtype, device=stop.device)
    passed = stop.new_zeros(len(rows), deepest + 1)
    passed[:, 0] = 1
    count = torch.zeros_like(mass)
    for place in range(int(size.max())):
        at = (first + place).clamp_max(stop.shape[-1] - 1)
        go = 1 - stop[row, at]
        times = torch.where(place < size, ranking.weight[rows, at], 0.0)
        for time in range(int(times.max())):
            added = (time < times)[:, None]
            total = (count + 1)[:, None]
            # Of j items of m + 1 the new one is not among them with chance (m + 1 − j)/(m + 1).
            before = torch.nn.functional.pad(passed, (1, 0))[:, :-1]
            more = ((total - j).clamp_min(0) * passed + j * go[:, None] * before) / total
            passed = torch.where(added, more, passed)
            count = count + added.squeeze(1)
    stopped = passed[:, :-1] - passed[:, 1:]
    rank = above[:, None] + j[1:]
    some = (j[1:] <= mass[:, None]) & (rank <= last)
    return torch.where(some, stopped / rank, 0.0).sum(-1)
