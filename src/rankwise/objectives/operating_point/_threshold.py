"""The threshold of an operating point: an order statistic of one class, with its gradient."""

from __future__ import annotations

from numbers import Real

import torch
from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives._selection import between, has_whole_weights
from rankwise.pairs.rows import accumulating

_SLACK = 1e-9  # 0.3 · 10 is 3 items, though the product is 2.9999999999999996
_NARROW = 1e-6  # of the mass: where weights are not whole numbers the threshold is one point


def require_inside(name: str, value: float) -> None:
    """Raise on a limit that is not strictly between 0 and 1."""
    if isinstance(value, bool) or not (isinstance(value, Real) and 0 < value < 1):
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")


def negative_at(lists: Lists, above: Tensor) -> Tensor:
    """Return the highest negative that has the mass ``above`` of negatives over it, (lists, 1).

    All positives above it come with no more than this mass of false positives.
    """
    n = accumulating(lists.negative_weight).sum(-1, keepdim=True)
    width = torch.where(has_whole_weights(lists), 1.0, _NARROW * n)
    low = above.minimum(n - width)
    return _at(lists.negatives, lists.negative_weight, low, low + width)


def positive_at(lists: Lists, share: float) -> tuple[Tensor, Tensor]:
    """Return the lowest positive that must be found for a recall, and the mass down to it.

    The ⌈n⁺·share⌉-th from the top; where weights are not whole numbers that of the mass n⁺·share.
    """
    n = accumulating(lists.positive_weight).sum(-1, keepdim=True)
    counts = has_whole_weights(lists)
    found = torch.where(counts, (n * share - _SLACK).ceil(), n * share)
    width = torch.where(counts, 1.0, _NARROW * n)
    return _at(lists.positives, lists.positive_weight, found - width, found), found


def flagged(lists: Lists, share: float) -> Tensor:
    """Return the mass of negatives that a false positive rate allows, ⌊n⁻·share⌋, (lists, 1)."""
    mass = accumulating(lists.negative_weight).sum(-1, keepdim=True) * share
    return torch.where(has_whole_weights(lists), (mass + _SLACK).floor(), mass)


def _at(scores: Tensor, weight: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Return the score of rank (low, high]; items tied there share its gradient by weight."""
    with torch.no_grad():
        part = accumulating(between(scores, weight, low, high))
        # A list without this class has no such score, and is left out of the mean.
        share = part / part.sum(-1, keepdim=True).clamp_min(torch.finfo(part.dtype).tiny)
        if scores.shape[-1] == 0:
            return scores.new_zeros(len(scores), 1)
        value = scores.gather(-1, part.argmax(-1, keepdim=True))
    # The score itself, so that rounding does not decide a tie, with the gradient of the mean.
    return value + (share.to(scores.dtype) * (scores - scores.detach())).sum(-1, keepdim=True)
