"""The distinct scores of a list, with the mass of each class at or above them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwise.metrics._binomial import Floats
from rankwise.metrics.inputs import Array, read_items


@dataclass(frozen=True, eq=False)
class Levels:
    """Distinct scores from the highest down, with the mass of each class at or above them."""

    score: Floats
    true: Floats
    false: Floats
    plain: bool  # every row counts once
    sizes: tuple[float, float]  # positives and negatives as independent draws (Kish 1965)

    @classmethod
    def of(cls, scores: Floats, positive: NDArray[np.bool_], weight: Floats | None) -> Levels:
        """Return the levels of one list; rows of weight 0 are left out."""
        if weight is not None:
            present = weight > 0
            scores, positive, weight = scores[present], positive[present], weight[present]
        mass = np.ones(len(scores)) if weight is None else weight.astype(np.float64)
        levels, which = np.unique(-scores, return_inverse=True)
        true, false = (
            np.cumsum(np.bincount(which, np.where(each, mass, 0.0), len(levels)).astype(np.float64))
            for each in (positive, ~positive)
        )
        sizes = (_effective(mass[positive]), _effective(mass[~positive]))
        return cls(-levels, true, false, bool((mass == 1).all()), sizes)

    @property
    def flagged(self) -> Floats:
        """Mass at or above each score, of both classes."""
        return self.true + self.false

    def below(self, last: int) -> float:
        """Return a threshold between a level and the next: neither rounding nor ties decide."""
        if last < 0:
            return float(self.score[0])
        here = float(self.score[last])
        if last + 1 == len(self.score):
            spread = float(self.score[0] - self.score[-1])
            return here - (spread or 1.0)
        after = float(self.score[last + 1])
        middle = after + (here - after) / 2
        return middle if middle < here else after


def _effective(mass: Floats) -> float:
    squares = float((mass**2).sum())
    return float(mass.sum()) ** 2 / squares if squares > 0 else 0.0


def read_levels(
    scores: Array,
    target: Array,
    mask: Array | None,
    weight: Array | None,
    *,
    both_classes: bool = True,
) -> Levels:
    """Return the levels of one list, of both classes unless they need not be there."""
    items = read_items(scores, target, mask, None, weight).checked(graded=False)
    if items.scores.ndim != 1:
        raise ValueError(f"scores must be one list, got shape {tuple(items.scores.shape)}")
    given = None if items.weight is None else items.weight.double().cpu().numpy()
    positive = (items.target > 0).cpu().numpy()
    levels = Levels.of(items.scores.double().cpu().numpy(), positive, given)
    if not len(levels.score):
        raise ValueError("scores must have at least one row that counts, got none")
    if both_classes and not (levels.true[-1] > 0 and levels.false[-1] > 0):
        raise ValueError("target must have both classes to choose a threshold by")
    return levels
