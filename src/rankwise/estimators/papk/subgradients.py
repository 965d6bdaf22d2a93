"""Subgradients of the surrogates of pAp@k by the scores, in closed form from the ranks.

Items of equal score share what their ranks get, so that the order of the input never matters, and
the slope at a kink of the hinge is 0: both as in the objectives' own gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.estimators.data import Floats
from rankwise.estimators.papk.users import Sides, Users
from rankwise.objectives import Objective, PApAtK
from rankwise.objectives._scaled import ScaledObjective

ClosedForm = Callable[[Sides], tuple[Floats, Floats]]
"""From scores to the subgradients by the positives and by the negatives, summed over users."""

_Positives = Literal["highest", "lowest", "both", "all"]
_POSITIVES: dict[str, _Positives] = {"ramp": "highest", "max": "lowest", "ts": "both"}
_MAX_PAIRED_K = 64  # the largest k for which counting all pairs is faster than sorting them


Gradient = Callable[[Users, Tensor], Tensor]
"""From users and scores, (settings, rows), to the gradient of the users' loss by the scores."""


class RiskGradient:
    """Gradient of an objective averaged over users: Algorithm 2 for all users in one pass.

    Rows without weights use ``closed_form``, by default that of pAp@k; other rows and objectives
    use autograd. The margin is in units of the scores, as in the paper.
    """

    def __init__(self, objective: Objective, closed_form: ClosedForm | None = None) -> None:
        if isinstance(objective, ScaledObjective) and objective.score_scale != 1:
            raise ValueError(f"objective must have score_scale=1, got {objective!r}")
        self.objective = objective
        self.closed_form = _of_pap(objective) if closed_form is None else closed_form

    def __call__(self, users: Users, scores: Tensor) -> Tensor:
        if self.closed_form is not None and users.weight is None:
            return users.by_side(self.closed_form, scores) / max(1, users.ranked)
        scores = scores.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(users.risk(self.objective, scores).sum(), scores)
        return gradient


def _of_pap(objective: Objective) -> ClosedForm | None:
    if not isinstance(objective, PApAtK):
        return None
    if objective.form == "avg":
        return partial(average, k=objective.k)
    which = _POSITIVES.get(objective.form)
    if which is None or objective.k > _MAX_PAIRED_K:
        return None
    return partial(pairs, k=objective.k, which=which)


def average(sides: Sides, *, k: int) -> tuple[Floats, Floats]:
    """(1/k) Σ_j [1 − mean(s⁺) + s⁻_j]₊, the avg surrogate of pAp@k."""
    kind = sides.negatives.dtype
    total = np.where(sides.positives > -np.inf, sides.positives, 0).sum(-1, dtype=np.float64)
    margin = (total / sides.n_positives - 1).astype(kind)
    slope = (1 / np.minimum(sides.n_negatives, k)).astype(kind)
    order = order_of(sides.negatives)
    active = np.take_along_axis(sides.negatives, order[..., :k], -1) > margin[..., None]
    above = -active.sum(-1) * (slope / sides.n_positives).astype(kind)
    below = put(sides.negatives, order, active * slope[:, None])
    return np.broadcast_to(above[..., None], sides.positives.shape), below


def pairs(sides: Sides, *, k: int, which: _Positives) -> tuple[Floats, Floats]:
    """Hinges of pairs of positives with the k highest negatives, averaged over both.

    ``"highest"`` and ``"lowest"`` are the β = min(n⁺, k) positives of the ramp and the max
    surrogate, ``"both"`` the highest with margin 1 and the others with margin 0 (TS), ``"all"``
    every positive. Time is k × the number of positives.
    """
    own = sides.positives
    if which == "lowest":
        own = np.where(own > -np.inf, -own, own)
    n_positives = sides.n_positives if which == "all" else np.minimum(sides.n_positives, k)
    slope = 1 / (n_positives * np.minimum(sides.n_negatives, k)).astype(own.dtype)[:, None]
    above, below = order_of(own), order_of(sides.negatives)
    highest = np.take_along_axis(sides.negatives, below[..., :k], -1)
    ranked = np.take_along_axis(own, above[..., : None if which in ("both", "all") else k], -1)
    # The score above which a negative costs something with each positive.
    needed = (-ranked if which == "lowest" else ranked) - 1
    if which == "both":
        needed[..., k:] = ranked[..., k:]
    needed[ranked == -np.inf] = np.inf
    lower, upper = np.empty_like(highest), np.zeros_like(ranked)
    for rank in range(highest.shape[-1]):
        active = highest[..., [rank]] > needed
        lower[..., rank] = active.sum(-1)
        upper += active
    return put(own, above, -upper * slope), put(sides.negatives, below, lower * slope)


def order_of(scores: Floats) -> NDArray[np.int64]:
    """Return the items of every list by descending score."""
    return scores.argsort(-1)[..., ::-1]


def put(scores: Floats, order: NDArray[np.int64], by_rank: Floats) -> Floats:
    """Give every item what its rank gets, 0 after the last; equal scores get the mean of theirs."""
    ranks, width = by_rank.shape[-1], scores.shape[-1]
    out = np.zeros(scores.shape, by_rank.dtype)
    np.put_along_axis(out, order[..., :ranks], by_rank, -1)
    head = order[..., : ranks + 1]
    values, given = (np.take_along_axis(of, head, -1) for of in (scores, out))
    equal = values[..., 1:] == values[..., :-1]
    setting, user = np.nonzero((equal & (given[..., 1:] != given[..., :-1])).any(-1))
    if len(setting):
        lists = setting[:, None], user[:, None], order[setting, user]
        ranked = scores[lists]
        level = np.zeros(ranked.shape, dtype=np.int64)
        level[:, 1:] = (ranked[:, 1:] != ranked[:, :-1]).cumsum(-1)
        level += np.arange(len(level))[:, None] * width
        total = np.bincount(level.ravel(), out[lists].ravel())
        out[lists] = (total / np.maximum(1, np.bincount(level.ravel())))[level]
    return out
