"""Means and variances of the two classes: all that the square loss of a pair looks at."""

from __future__ import annotations

from torch import Tensor

from rankwise.lists import Lists
from rankwise.pairs.rows import accumulating

__all__ = ["class_moments"]


def class_moments(lists: Lists) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A centre c, mean_P s − c, mean_N s − c and the sum of both variances, (lists,) each.

    c is a number among the scores, without a gradient, and only there for what it takes away.
    ``lists`` are whole on both sides (``whole_positives``, ``whole_negatives``). In the dtype sums
    are made in: means of half precision need more digits.
    """
    scores = accumulating(lists.positives)
    of_above = lists.positive_weight / accumulating(lists.n_positives)
    of_below = lists.negative_weight / accumulating(lists.n_negatives)
    # About a point among them a common offset takes no digits of the squares. Few operations: at
    # the size of a batch each costs more than its arithmetic.
    centre = (of_above * scores.detach()).sum(-1, keepdim=True)
    about = scores - centre
    above, below = (of_above * about).sum(-1), (of_below * about).sum(-1)
    squares = ((of_above + of_below) * about.square()).sum(-1)
    spread = squares.addcmul(above, above, value=-1).addcmul(below, below, value=-1)
    return centre.squeeze(-1), above, below, spread
