"""Which part of each list a risk looks at: the highest or lowest so many of its items.

Everything is by mass, so that an item of weight 2 counts as two and the last one may be taken in
part. Items tied at a cut share what is left there, in proportion to their weights: equal scores
give equal values, so the risk is that of any choice among them, and its gradient does not depend on
the order of the input.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.checks import require_same_shape
from rankwise.metrics.ranking import band
from rankwise.pairs.rows import accumulating

__all__ = ["between", "gathered", "hardest", "sum_of_hardest"]


def hardest(scores: Tensor, weight: Tensor, mass: Tensor | float, largest: bool = True) -> Tensor:
    """The part of each item's weight within the ``mass`` highest scores of its list, (lists, n).

    ``mass`` is a number or one per list, (lists, 1); more than a list has takes all of it.
    ``largest=False``: the lowest scores. Items of weight 0 are absent. Without a gradient.
    """
    return between(scores, weight, 0.0, mass, largest)


@torch.no_grad()
def between(
    scores: Tensor,
    weight: Tensor,
    low: Tensor | float,
    high: Tensor | float,
    largest: bool = True,
) -> Tensor:
    """The part of each item's weight that has rank (low, high], counting mass from the top.

    ``largest=False`` counts from the bottom. The other arguments are those of :func:`hardest`.
    """
    require_same_shape("weight", weight, "scores", scores)
    ranked, order = scores.sort(dim=-1, descending=largest)
    new = ranked[:, 1:] != ranked[:, :-1]
    level = torch.nn.functional.pad(new.long().cumsum(-1), (1, 0))[:, : scores.shape[-1]]
    ordered = accumulating(weight).gather(-1, order)
    mass = torch.zeros_like(ordered).scatter_add(-1, level, ordered)
    # Both bands round alike: a level that is taken whole has a share of exactly 1.
    share = band(mass, low, high) / band(mass, 0.0, math.inf)
    share = torch.where(mass > 0, share, 0)
    part = ordered * share.gather(-1, level)
    return torch.zeros_like(part).scatter(-1, order, part).to(weight.dtype)


def gathered(scores: Tensor, part: Tensor) -> tuple[Tensor, Tensor]:
    """The items of which any part is taken, (lists, most in any list), and their parts.

    Sums over pairs then cost what is selected and not what is there. Padding has part 0.
    """
    widest = int((part > 0).sum(-1).max()) if part.numel() else 0
    parts, where = part.topk(widest, dim=-1)
    return scores.gather(-1, where), parts


@torch.no_grad()
def sum_of_hardest(scores: Tensor, weight: Tensor, masses: Tensor, largest: bool = True) -> Tensor:
    """Σ of the scores within the ``masses`` highest of each list, (lists, masses).

    What ``(hardest(scores, weight, mass) * scores).sum(-1)`` is, for many masses at one sort.
    """
    ranked, order = accumulating(scores).sort(dim=-1, descending=largest)
    ordered = accumulating(weight).gather(-1, order)
    through, total = ordered.cumsum(-1), (ordered * ranked).cumsum(-1)
    last = torch.searchsorted(through, masses.contiguous()).clamp_max(scores.shape[-1] - 1)
    beyond = (through.gather(-1, last) - masses).clamp_min(0)
    return total.gather(-1, last) - beyond * ranked.gather(-1, last)
