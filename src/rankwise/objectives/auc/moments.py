"""Means and variances of the two classes: all that the square loss of a pair looks at."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.lists import Lists
from rankwise.pairs.rows import accumulating

__all__ = ["class_moments"]


def class_moments(lists: Lists) -> tuple[Tensor, Tensor, Tensor]:
    """mean_P s, mean_N s and the sum of the two variances of every list, (lists,) each.

    ``lists`` are whole on both sides (``whole_positives``, ``whole_negatives``). In the dtype sums
    are made in: means of half precision need more digits.
    """
    weight = accumulating(torch.stack([lists.positive_weight, lists.negative_weight], dim=1))
    mass = accumulating(lists.masses)
    moments: tuple[Tensor, Tensor, Tensor]
    moments = _Moments.apply(lists.positives, weight, mass)  # type: ignore[no-untyped-call]
    return moments


class _Moments(torch.autograd.Function):
    """One node instead of a dozen: at the size of a batch each costs more than its arithmetic."""

    @staticmethod
    def forward(  # type: ignore[no-untyped-def]
        ctx, scores: Tensor, weight: Tensor, mass: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        exact = accumulating(scores)
        mean = (weight @ exact.unsqueeze(-1)).squeeze(-1) / mass
        above, below = mean.unbind(-1)
        # About a point between the classes a common offset takes no digits of the squares.
        squares = (exact - mean.mean(-1, keepdim=True)).square_().unsqueeze(-1)
        spread = ((weight @ squares).squeeze(-1) / mass).sum(-1) - (above - below).square() / 2
        above, below = above.clone(), below.clone()
        ctx.save_for_backward(scores, weight, mass, above, below)
        return above, below, spread.clamp_min_(0)  # what is below is rounding

    @staticmethod
    def backward(ctx, of_above: Tensor, of_below: Tensor, of_spread: Tensor):  # type: ignore[no-untyped-def]
        scores, weight, mass, above, below = ctx.saved_tensors
        # d spread/ds = 2(s − mean)/mass of its class: moving the mean moves no variance.
        apart = of_spread * (above - below)
        slope = (2 * of_spread).expand(2, -1)
        line = torch.stack([torch.stack([of_above - apart, of_below + apart]), slope])
        constant, slope = ((line.permute(2, 0, 1) / mass.unsqueeze(1)) @ weight).unbind(1)
        away = accumulating(scores) - ((above + below) / 2).unsqueeze(-1)
        return torch.addcmul(constant, slope, away).to(scores.dtype), None, None
