"""What the methods follow: the gradient of each one's loss by the scores of all rows.

Scores are (settings, rows): every row of the result is the gradient of one setting's loss.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count
from rankwise.estimators.papk.by_rank import ByRank, Which, average, pairs, pool, precision
from rankwise.estimators.papk.sides import Sides, padded
from rankwise.estimators.papk.users import Users
from rankwise.lists import Lists
from rankwise.objectives import Objective, PApAtK, PrecisionAtK
from rankwise.objectives.scaled import ScaledObjective
from rankwise.objectives.selection import gathered, hardest
from rankwise.pairs import Hinge, pair_sum

__all__ = [
    "Gradient",
    "LogisticGradient",
    "PartialAUCAtK",
    "RiskGradient",
    "SelectedGradient",
    "StrictPrecisionAtK",
]

_POSITIVES: dict[str, Which] = {"ramp": "highest", "max": "lowest", "ts": "both"}
_MOST_PAIRED = 64  # k up to which counting pairs one by one beats sorting them
_AT_ONCE = 1 << 19  # scores


class Gradient(Protocol):
    """The gradient by the scores, (settings, rows), of the loss of these users."""

    def __call__(self, users: Users, scores: Tensor) -> Tensor: ...


class RiskGradient:
    """Of an objective, as the mean over users: Algorithm 2 for all users in one pass.

    For rows without weights it is made in closed form from the ranks (:mod:`.by_rank`), where the
    objective has one; otherwise by the objective's own gradient. The margin is in units of the
    scores, as the paper has it.
    """

    def __init__(self, objective: Objective) -> None:
        if isinstance(objective, ScaledObjective) and objective.score_scale != 1:
            raise ValueError(f"objective must have score_scale=1, got {objective!r}")
        self.objective, self._by_rank = objective, _closed_form(objective)

    def __call__(self, users: Users, scores: Tensor) -> Tensor:
        if self._by_rank is not None and users.sides is not None:
            return _filled(self._by_rank, users.sides, scores) / max(1, users.ranked)
        scores = scores.detach().requires_grad_()
        risk = users.risk(self.objective, scores).sum()
        (gradient,) = torch.autograd.grad(risk, scores)
        return gradient


def _closed_form(objective: Objective) -> ByRank | None:
    """What the ranks say of its slopes; None: nothing, or not in less time."""
    if isinstance(objective, PApAtK) and objective.surrogate == "avg":
        return partial(average, k=objective.k)
    if isinstance(objective, StrictPrecisionAtK):
        return partial(precision, k=objective.k)
    if not isinstance(objective, PApAtK | PartialAUCAtK) or objective.k > _MOST_PAIRED:
        return None
    if isinstance(objective, PartialAUCAtK):
        return partial(pairs, k=objective.k, which="all")
    which = _POSITIVES.get(objective.surrogate)
    return None if which is None else partial(pairs, k=objective.k, which=which)


def _filled(by_rank: ByRank, sides: Sides, scores: Tensor) -> Tensor:
    """So many settings at once that what is worked on stays near the processor."""
    out = torch.empty_like(scores)
    at_once = max(1, _AT_ONCE // max(1, scores.shape[1]))
    for start in range(0, len(scores), at_once):
        some = padded(scores[start : start + at_once].detach().numpy())
        found = np.zeros_like(some)
        by_rank(sides, some, found)
        out[start : start + at_once] = torch.from_numpy(found[:, :-1])
    return out


class LogisticGradient:
    """Of the mean cross-entropy over all rows."""

    def __call__(self, users: Users, scores: Tensor) -> Tensor:
        weight = torch.ones(len(users.target)) if users.weight is None else users.weight
        return _cross_entropy(users, scores, weight.to(scores.dtype).expand_as(scores))


class SelectedGradient:
    """Select-pAp@k: cross-entropy on a pool that is chosen anew every so many steps.

    The pool has the β = min(n⁺, k) highest positives and the k highest negatives of every user by
    the scores at that moment (Budhiraja et al. 2020, Algorithm 1). One object serves one descent.
    """

    def __init__(self, k: int, inner: int) -> None:
        self.k, self.inner = k, inner
        self._pool: Tensor | None = None
        self._step = 0

    def __call__(self, users: Users, scores: Tensor) -> Tensor:
        if self._pool is None or len(self._pool) != len(scores) or self._step % self.inner == 0:
            self._pool = self._selected(users, scores)
        self._step += 1
        return _cross_entropy(users, scores, self._pool)

    @torch.no_grad()
    def _selected(self, users: Users, scores: Tensor) -> Tensor:
        if users.sides is not None:
            return _filled(partial(pool, k=self.k), users.sides, scores)
        chosen, settings = torch.zeros_like(scores), len(scores)
        for part in users.rectangles:
            lists = part.at(scores)
            sides = (
                (part.positives, lists.positives, lists.positive_weight),
                (part.negatives, lists.negatives, lists.negative_weight),
            )
            for places, values, weight in sides:
                taken = hardest(values, weight, self.k).unflatten(0, (settings, -1))
                # Padding repeats a place with part 0, so that adding keeps the true part.
                chosen.scatter_add_(1, places.flatten().expand(settings, -1), taken.flatten(1))
        return chosen


def _cross_entropy(users: Users, scores: Tensor, weight: Tensor) -> Tensor:
    errors = weight * (torch.sigmoid(scores) - users.target.to(scores.dtype))
    total: Tensor = errors / weight.sum(-1, keepdim=True)
    return total


class PartialAUCAtK(Objective):
    """SVM-pAUC: (1/n⁺k) Σ_i Σ_{j≤k} [1 − s⁺_i + s⁻_j]₊, all positives × the k highest negatives.

    The tight structural surrogate of pAUC(0, k/n⁻]   (Narasimhan and Agarwal 2017).
    """

    def __init__(self, k: int) -> None:
        super().__init__()
        require_count("k", k)
        self.k = k

    def risk(self, lists: Lists) -> Tensor:
        taken = hardest(lists.negatives, lists.negative_weight, self.k)
        negatives, weight = gathered(lists.negatives, taken)
        below = pair_sum(Hinge(1.0), lists.positives, negatives, weight=weight)
        return lists.mean_over_positives(below) / lists.n_negatives.squeeze(-1).clamp_max(self.k)


class StrictPrecisionAtK(PrecisionAtK):
    """The avg surrogate of precision@k, k as given also where n⁺ < k.

    k places then hold at least k − n⁺ negatives, whatever the ranking. These, the highest, cost
    nothing, and no pair with them is looked at: what the paper's Table 2 says of precision@k. The
    margin is the printed one, in units of the scores.
    """

    def __init__(self, k: int) -> None:
        super().__init__(k, "avg", score_scale=1.0)

    def risk(self, lists: Lists) -> Tensor:
        free = (self.k - lists.n_positives).clamp_min(0)
        spared = hardest(lists.negatives, lists.negative_weight, free)
        left = (lists.negative_weight - spared).clamp_min(0)
        if not bool((left > 0).any()):
            return lists.positives.sum(-1) * 0
        return super().risk(Lists(lists.positives, lists.negatives, lists.positive_weight, left))
