"""The curvature that boosters divide by: of pairs, averaged over like scores, with a floor."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from rankwise.boosting.rows import Floats
from rankwise.objectives import Objective
from rankwise.pairs import Surrogate
from rankwise.pairs.forms import Piece

_TOP_CELL = 20  # rows in the highest cell
_GROWTH = 1.15  # how much larger the next cell is
_TINY = 1e-16  # boosters want a number above zero even for a row of no weight


@dataclass(frozen=True)
class CurvedSurrogate(Surrogate):
    """Surrogate ℓ with ℓ'' in place of its derivative.

    An objective F(A) of pair sums A_i = Σ_j w_j ℓ(s_i − s_j) has the gradient Σ_i g_i ∇A_i with
    g = ∂F/∂A. With ℓ'' for ℓ' the same backward pass gives g_i Σ_j w_j ℓ''(s_i − s_j) for the
    upper side and −w_j Σ_i g_i ℓ''(s_i − s_j) for the lower: up to the sign what
    :func:`rankwise.pairs.pair_curvature` gives for the weights g, without any objective having to
    say what its g are.
    """

    surrogate: Surrogate
    _positive: ClassVar[bool] = False

    def value(self, x: Tensor) -> Tensor:
        still = x.detach()
        return self.surrogate.value(still) + self.surrogate.curvature(still) * (x - still)

    def pieces(self, order: int = 0) -> tuple[Piece, ...]:
        if order > 1:
            raise ValueError(f"order must be 0 or 1, got {order!r}")
        return self.surrogate.pieces(2 if order else 0)


def curved(objective: Objective) -> Objective | None:
    """Return a copy whose gradient is, up to signs, the diagonal of the Hessian given ∂F/∂A.

    That bounds the true diagonal from above where F is concave and ℓ convex, as for average
    precision, and is the true one where F is linear, as for the AUCs. None where an objective is
    not a function of sums of positives against negatives with a curved ℓ: a hinge has no curvature,
    a graded objective has its items on both sides of the pairs, which cancel.
    """
    if objective.graded:
        return None
    twin, changed = copy.deepcopy(objective), False
    for part in twin.modules():
        for name, value in list(vars(part).items()):
            if not isinstance(value, Surrogate):
                continue
            pieces = value.pieces(2)
            if any(any(p.polynomial) or any(p.decay) or any(p.rise) or p.growth for p in pieces):
                setattr(part, name, CurvedSurrogate(value))
                changed = True
    return twin if changed else None


def expected(scores: Floats, curvature: Floats, mass: Floats | None) -> Floats:
    """Return the mean curvature of the rows with about the same score.

    In log-loss p(1−p) is that of a row whatever its label, so that a leaf of positives divides by
    what the model expected there, little, and is found early and moved far. The curvature of pairs
    is large for a positive and small for a negative: a leaf of positives would divide by its own
    number, as with balanced classes, and trees would look for other leaves. The mean over labels
    makes the denominator one of scores again.

    Cells are cut by rank: the highest rows first, each cell larger than the one above, since that
    is where scores differ; equal scores are in one cell. ``curvature`` is that of items of
    the given ``mass``.
    """
    mass = np.ones_like(scores) if mass is None else mass
    order = np.argsort(-scores)  # any order of ties: all of them are in the cell of the first
    descending = scores[order]
    above = np.concatenate([[0.0], np.cumsum(mass[order])[:-1]])
    tied = np.concatenate([[False], descending[1:] == descending[:-1]])
    above = above[np.maximum.accumulate(np.where(tied, 0, np.arange(len(scores))))]
    growth = np.log1p(above * (_GROWTH - 1) / _TOP_CELL) / np.log(_GROWTH)
    cell = np.empty(len(scores), dtype=np.int64)
    cell[order] = growth.astype(np.int64)
    total, size = np.bincount(cell, curvature), np.bincount(cell, mass)
    mean = np.divide(total, size, out=np.zeros_like(total), where=size > 0)
    result: Floats = mean[cell] * mass
    return result


def floored(curvature: Floats, weight: Floats | None, share: float) -> Floats:
    """Return the curvature, at least a share of its mean, so that no leaf diverges."""
    mean = float(np.mean(curvature))
    if weight is None:
        return np.maximum(curvature, share * mean)
    # In proportion to the weight, so that a row of weight 2 is still the row twice.
    least = share * mean * len(weight) / float(weight.sum()) * weight
    return np.maximum(curvature, np.maximum(least, _TINY))
