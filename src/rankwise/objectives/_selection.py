"""Which part of each list a risk looks at: the highest or lowest items.

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
from rankwise.lists import Lists
from rankwise.metrics.ranking import band, ratio
from rankwise.pairs.rows import accumulating

_STEPS = 200  # bisection alone needs 60 or so
_EXACT = 1e-10  # tolerance, as a share of the mass


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
    # What vanishes next to the mass above it has none.
    share = ratio(band(mass, low, high), band(mass, 0.0, math.inf))
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


def soft_hardest(
    scores: Tensor, weight: Tensor, mass: Tensor | float, temperature: float
) -> Tensor:
    """σ((s_j − λ)/T) of every item, (lists, n), with λ such that Σ_j w_j σ((s_j − λ)/T) = mass.

    A differentiable :func:`hardest`: the share of each item in the ``mass`` highest, times its
    weight, tends to it for T → 0. ``mass`` is a number or one per list, (lists, 1); a list of no
    more than this mass is taken whole. λ has its own
    gradient, ∂λ/∂s_j ∝ w_j σ′((s_j − λ)/T): the shares add up to the same mass wherever the scores
    move, and a constant added to all scores changes nothing.
    """
    wide, mass_of = accumulating(scores), accumulating(weight)
    total = mass_of.sum(-1, keepdim=True)
    wanted = torch.as_tensor(mass, dtype=total.dtype, device=total.device).expand_as(total)
    whole = wanted >= total
    with torch.no_grad():
        level = _level(wide, mass_of, wanted.where(~whole, total / 2), temperature)
        level = torch.where(total > 0, level, 0)
        # log σ′: never 0/0, however far the cut is from all scores.
        apart = (wide - level) / temperature
        steep = torch.nn.functional.logsigmoid(apart) + torch.nn.functional.logsigmoid(-apart)
        near = torch.softmax(steep.masked_fill(mass_of == 0, -torch.inf) + mass_of.log(), dim=-1)
        near = torch.where(total > 0, near, 0)
    moved = level + (near * (wide - wide.detach())).sum(-1, keepdim=True)
    return torch.sigmoid((wide - moved) / temperature).masked_fill(whole, 1).to(scores.dtype)


def _level(scores: Tensor, weight: Tensor, mass: Tensor, temperature: float) -> Tensor:
    """λ of each list, (lists, 1), for a mass between nothing and everything.

    Newton's steps, and the middle of what is left where a step would leave it. Were all scores s,
    λ would be s − T·logit(mass/total): between those of the lowest and the highest score it is.
    """
    there = weight > 0
    offset = temperature * torch.logit(mass / weight.sum(-1, keepdim=True))
    low = scores.masked_fill(~there, torch.inf).amin(-1, keepdim=True) - offset
    high = scores.masked_fill(~there, -torch.inf).amax(-1, keepdim=True) - offset
    level = _first_guess(scores, weight, mass).clamp(low, high)
    for _ in range(_STEPS):
        share = torch.sigmoid((scores - level) / temperature)
        taken = weight * share
        excess = taken.sum(-1, keepdim=True) - mass
        low, high = torch.where(excess > 0, level, low), torch.where(excess < 0, level, high)
        if not bool((excess.abs() > _EXACT * mass).any()):
            break
        slope = (taken * (1 - share)).sum(-1, keepdim=True) / temperature
        newton, middle = level + excess / slope, (low + high) / 2
        inside = (newton > low) & (newton < high)  # False for NaN, where nothing is near the cut
        before, level = level, torch.where(inside, newton, middle)
        if torch.equal(before, level):
            break
    return level


def _first_guess(scores: Tensor, weight: Tensor, mass: Tensor) -> Tensor:
    """Half-way between the last item of the mass and the first one beyond it."""
    ranked, order = scores.sort(dim=-1, descending=True)
    through = weight.gather(-1, order).cumsum(-1)
    last = torch.searchsorted(through, mass).clamp_max(scores.shape[-1] - 1)
    beyond = (last + 1).clamp_max(scores.shape[-1] - 1)
    return (ranked.gather(-1, last) + ranked.gather(-1, beyond)) / 2


def share_at_the_top(lists: Lists, k: Tensor | float, softness: float | None = None) -> Tensor:
    """How much of each relevant item is among the k highest of its list, (lists, positives).

    ``k`` is a number or one per list, (lists, 1). 1 or 0, and between them for items tied at the
    k-th score, which share what is left there; without a gradient. A ``softness`` is the
    temperature of :func:`soft_hardest`, which has one.
    """
    if softness is not None:
        share = soft_hardest(lists.scores, lists.weight, k, softness)
        return share[:, : lists.positives.shape[-1]]
    if lists.even and isinstance(k, int):
        return _even_share(lists, k)
    part = hardest(lists.scores, lists.weight, k)[:, : lists.positives.shape[-1]]
    return torch.where(lists.positive_weight > 0, part / lists.positive_weight, 0)


def _even_share(lists: Lists, k: int) -> Tensor:
    """The same in lists whose items all count once: one selection in place of a sort."""
    scores, positives = lists.scores.detach(), lists.positives.detach()
    if k >= scores.shape[-1]:
        return torch.ones_like(lists.positive_weight)
    last = scores.topk(k, dim=-1).values[:, -1:]  # of the first k
    left = k - (scores > last).sum(-1, keepdim=True)
    shared = left / (scores == last).sum(-1, keepdim=True)
    return torch.where(positives > last, 1, shared * (positives == last))


def has_whole_weights(lists: Lists) -> Tensor:
    """Return whether all weights of a list are whole numbers, (lists, 1)."""
    return (lists.weight == lists.weight.round()).all(-1, keepdim=True)
