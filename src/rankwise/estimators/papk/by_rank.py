"""The methods' subgradients by the scores in closed form, and Micro-pAp@k, from ranks alone.

Every function adds nothing up over users: the caller divides by their number. Items of equal score
share what their ranks get, so that no order of the input is ever seen; at a kink of the hinge the
slope is 0. Both are what the objectives' own gradients do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankwise.estimators.papk.sides import Ranked, Sides

__all__ = ["ByRank", "average", "gains", "pairs", "pool", "precision"]

Floats = NDArray[np.floating[Any]]
ByRank = Callable[[Sides, Floats, Floats], None]
"""From users, scores with a last column of −∞, and zeros of that shape to fill."""

Which = Literal["highest", "lowest", "both", "all"]


def average(sides: Sides, scores: Floats, out: Floats, *, k: int) -> None:
    """(1/k) Σ_j [1 − mean(s⁺) + s⁻_j]₊, the avg surrogate of pAp@k."""
    positives, negatives = sides.positives, sides.negatives
    top = negatives.top(scores, k)
    mean = positives.sums(scores) / positives.sizes
    slope = (1 / np.minimum(negatives.sizes, k)).astype(scores.dtype)
    active = top.values > (mean - 1).astype(scores.dtype)
    negatives.put(out, scores, top, active * slope)
    positives.fill(out, -active.sum(0) * (slope / positives.sizes).astype(scores.dtype))


def pairs(sides: Sides, scores: Floats, out: Floats, *, k: int, which: Which) -> None:
    """Hinges of pairs of positives with the k highest negatives, as a mean over both.

    ``"highest"`` and ``"lowest"`` are the β = min(n⁺, k) positives of the ramp and the max
    surrogate, ``"both"`` the highest with margin 1 and the others with margin 0 (TS), ``"all"``
    every positive (SVM-pAUC). The work is k × as many positives.
    """
    positives, negatives = sides.positives, sides.negatives
    counted = positives.sizes if which == "all" else np.minimum(positives.sizes, k)
    slope = (1 / (counted * np.minimum(negatives.sizes, k))).astype(scores.dtype)
    top = negatives.top(scores, k)
    below = np.zeros_like(top.values)
    own, sign = scores, 1
    if which == "lowest":
        own, sign = -scores, -1
        own[:, -1] = -np.inf
    for part in positives.ranked(own, None if which in ("both", "all") else k):
        needed = _needed(part, which, k, sign)
        lower, upper = _costly(top.values.take(part.users, axis=2), needed)
        below[:, :, part.users] = lower * slope[part.users]
        positives.put(out, own, part, -upper * slope[part.users], inside=which == "both")
    negatives.put(out, scores, top, below)


def _needed(part: Ranked, which: Which, k: int, sign: int) -> Floats:
    """The score a negative must be above to cost something with each positive."""
    values = sign * part.values
    needed = values - values.dtype.type(1)
    if which == "both":
        needed[k:] = values[k:]
    needed[part.values == -np.inf] = np.inf
    return needed


def _costly(top: Floats, needed: Floats) -> tuple[Floats, Floats]:
    """How many pairs cost something, of each negative and of each positive."""
    kind = np.min_scalar_type(max(len(top), len(needed)))
    lower, upper = np.empty(top.shape, kind), np.zeros(needed.shape, kind)
    for rank, value in enumerate(top):
        active = (value > needed).view(np.uint8)
        lower[rank] = np.add.reduce(active, axis=0, dtype=kind)
        upper += active
    return lower.astype(top.dtype), upper.astype(top.dtype)


def precision(sides: Sides, scores: Floats, out: Floats, *, k: int) -> None:
    """The avg surrogate of precision@k, where the k − n⁺ highest negatives cost nothing.

    max_m {m + Σ (the next m negatives) − m · mean(the lowest n⁺ − k' + m positives)}/k' with
    k' = min(n⁺, k)   (see :class:`~rankwise.estimators.papk.gradients.StrictPrecisionAtK`).
    """
    positives, negatives = sides.positives, sides.negatives
    places = np.minimum(positives.sizes, k)
    spared, left = k - places, positives.sizes - places
    most = np.clip(negatives.sizes - spared, 0, places)
    low, high = positives.top(scores, k), negatives.top(scores, k)
    whole = positives.sums(scores)
    above = [_sums(ranked.values) for ranked in (low, high)]
    best, chosen = np.zeros(whole.shape), np.zeros(whole.shape, dtype=np.int64)
    users = np.arange(sides.number)
    for m in range(1, k + 1):
        last = np.minimum(spared + m, k)
        taken = above[1][last, :, users] - above[1][spared, :, users]
        rest = whole.T - above[0][np.maximum(places - m, 0), :, users]
        value = (m + taken.T) - m * (rest.T / (left + m))
        better = (value > best) & (m <= most)
        best[better], chosen[better] = value[better], m
    ranks = np.arange(k)[:, None, None]
    slope = (1 / places).astype(scores.dtype)
    costs = (ranks >= spared) & (ranks < spared + chosen)
    negatives.put(out, scores, high, costs * slope, inside=True)
    share = -(chosen / np.maximum(left + chosen, 1) / places).astype(scores.dtype)
    positives.fill(out, share)
    kept = ranks >= places - chosen
    positives.put(out, scores, low, kept * share, beyond=share, inside=True)


def _sums(values: Floats) -> NDArray[np.float64]:
    """Σ of the first 0, 1, … ranks, (ranks + 1, settings, users)."""
    total = np.zeros((len(values) + 1, *values.shape[1:]))
    there = np.where(values > -np.inf, values, 0)
    np.cumsum(there, axis=0, out=total[1:], dtype=np.float64)
    return total


def pool(sides: Sides, scores: Floats, out: Floats, *, k: int) -> None:
    """1 for the k highest positives and negatives of every user."""
    for side in (sides.positives, sides.negatives):
        top = side.top(scores, k)
        side.put(out, scores, top, np.ones_like(top.values))


def gains(sides: Sides, scores: Floats, k: int) -> NDArray[np.float64]:
    """pAp@k of every user, ties against the ranking, (settings, users)   (Eq. 1)."""
    above, below = (side.top_values(scores, k) for side in (sides.positives, sides.negatives))
    above[above == -np.inf] = np.inf
    wrong = np.zeros(above.shape[1:])
    for negative in below:
        wrong += (negative >= above).sum(0)
    counted = [np.minimum(side.sizes, k) for side in (sides.positives, sides.negatives)]
    found: NDArray[np.float64] = 1 - wrong / (counted[0] * counted[1])
    return found
