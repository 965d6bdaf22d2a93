"""Means and variances of the two classes: all that the square loss of a pair looks at."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.lists import Lists

__all__ = ["class_moments"]


def class_moments(lists: Lists) -> tuple[Tensor, Tensor, Tensor]:
    """mean_P s, mean_N s and the sum of the two variances of every list, (lists,) each.

    ``lists`` are whole on both sides (``whole_positives``, ``whole_negatives``).
    """
    scores = lists.positives.to(lists.positive_weight.dtype)  # half precision has too few digits
    of_above = lists.positive_weight / lists.n_positives
    of_below = lists.negative_weight / lists.n_negatives
    # About the mean of its class, taken without a gradient, nothing large is squared. Few
    # operations: at the size of a batch each costs more than its arithmetic.
    with torch.no_grad():
        mean_above = (of_above * scores).sum(-1, keepdim=True)
        mean_below = (of_below * scores).sum(-1, keepdim=True)
        own = torch.where(of_above > 0, mean_above, mean_below)
        share = of_above + of_below
    about = scores - own
    # Both are 0 but for rounding, and carry the gradient of the means.
    above, below = (of_above * about).sum(-1), (of_below * about).sum(-1)
    squares = (share * about.square()).sum(-1)
    spread = squares.addcmul(above, above, value=-1).addcmul(below, below, value=-1)
    return above + mean_above.squeeze(-1), below + mean_below.squeeze(-1), spread
