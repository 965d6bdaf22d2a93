"""How much of each class is at or above every score: what all curves are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Levels", "effective_size", "levels_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Levels:
    """Distinct scores from the highest down, with the mass of each class at or above them."""

    score: Floats
    positives: Floats
    negatives: Floats
    sizes: tuple[int, int]  # positives and negatives as draws: fewer than rows if weights differ

    @property
    def recall(self) -> Floats:
        """The true positive rate."""
        share: Floats = self.positives / self.positives[-1]
        return share

    @property
    def fpr(self) -> Floats:
        """The false positive rate."""
        share: Floats = self.negatives / self.negatives[-1]
        return share

    @property
    def flagged(self) -> Floats:
        """Mass at or above, of both classes."""
        both: Floats = self.positives + self.negatives
        return both

    @property
    def prior(self) -> float:
        """The share of positives."""
        return float(self.positives[-1] / self.flagged[-1])


def levels_of(scores: Floats, target: Floats, weight: Floats) -> Levels:
    """The levels of one list with both classes; rows of no weight are not in it."""
    present = weight > 0
    scores, target, weight = scores[present], target[present], weight[present]
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    mass, is_positive = weight[order], target[order] == 1
    return Levels(
        ranked[last],
        np.cumsum(np.where(is_positive, mass, 0.0))[last],
        np.cumsum(np.where(is_positive, 0.0, mass))[last],
        (effective_size(weight[target == 1]), effective_size(weight[target != 1])),
    )


def effective_size(weight: Floats) -> int:
    """How many equal rows say as much (Kish 1965, §11.7): (Σw)²/Σw², at least one."""
    squares = float((weight**2).sum())
    return max(1, round(float(weight.sum()) ** 2 / squares)) if squares > 0 else 1
