"""The highest so many of a list, smoothly: which items are taken has a gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.pairs.rows import accumulating

__all__ = ["soft_hardest"]

_STEPS = 200  # bisection alone needs 60 or so
_EXACT = 1e-10  # of the mass


def soft_hardest(
    scores: Tensor, weight: Tensor, mass: Tensor | float, temperature: float
) -> Tensor:
    """σ((s_j − λ)/T) of every item, (lists, n), with λ such that Σ_j w_j σ((s_j − λ)/T) = mass.

    The share of each item in the ``mass`` highest, as
    :func:`~rankwise.objectives.selection.hardest` has it for T → 0 (there by weight). ``mass`` is a
    number or one per list, (lists, 1); a list that has no more is taken whole. λ has its own
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
