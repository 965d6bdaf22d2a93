"""Losses of the methods that pAp@k is compared with, and their gradients by the scores."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count
from rankwise.estimators.data import Floats
from rankwise.estimators.papk.descent import RiskGradient, order_of, pairs, put
from rankwise.estimators.papk.users import Sides, Users
from rankwise.lists import Lists
from rankwise.objectives import Objective, PrecisionAtK
from rankwise.objectives._selection import gathered, hardest
from rankwise.pairs import Hinge, pair_sum


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
    """The avg surrogate of precision@k, with k as given also where n⁺ < k.

    k places then hold at least k − n⁺ negatives, whatever the ranking. These, the highest, cost
    nothing, and no pair with them counts: what the paper's Table 2 says of precision@k. The margin
    is in units of the scores.
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


def partial_auc_gradient(k: int) -> RiskGradient:
    """Return the gradient of SVM-pAUC, in closed form for rows without weights."""
    form = partial(pairs, k=k, which="all") if k <= 64 else None
    return RiskGradient(PartialAUCAtK(k), form)


def precision_gradient(k: int) -> RiskGradient:
    """Return the gradient of SGD@k-avg, in closed form for rows without weights."""
    return RiskGradient(StrictPrecisionAtK(k), partial(_precision, k=k))


def _precision(sides: Sides, *, k: int) -> tuple[Floats, Floats]:
    """Differentiate the avg surrogate of precision@k.

    max_m {m + Σ (the next m negatives) − m · mean(the lowest n⁺ − k' + m positives)}/k' with
    k' = min(n⁺, k), where the k − n⁺ highest negatives cost nothing.
    """
    kind, settings = sides.negatives.dtype, len(sides.negatives)
    places = np.minimum(sides.n_positives, k)
    spared, left = k - places, sides.n_positives - places
    most = np.clip(sides.n_negatives - spared, 0, places)
    orders = order_of(sides.positives), order_of(sides.negatives)
    above, below = (
        _sums(np.take_along_axis(side, order, -1), k)
        for side, order in zip((sides.positives, sides.negatives), orders, strict=True)
    )
    users = np.arange(len(places))
    best = np.zeros((settings, len(places)))
    chosen = np.zeros(best.shape, dtype=np.int64)
    for m in range(1, k + 1):
        taken = below[:, users, np.minimum(spared + m, k)] - below[:, users, spared]
        rest = above[:, :, -1] - above[:, users, np.maximum(places - m, 0)]
        value = m + taken - m * (rest / (left + m))
        better = (value > best) & (m <= most)
        best[better], chosen[better] = value[better], m
    start, end = spared[:, None], (spared + chosen)[..., None]
    ranks = np.arange(sides.negatives.shape[-1])
    costs = ((ranks >= start) & (ranks < end)) * (1 / places[:, None])
    share = -chosen / np.maximum(left + chosen, 1) / places
    ranks = np.arange(sides.positives.shape[-1])
    kept = (ranks >= (places - chosen)[..., None]) & (ranks < sides.n_positives[:, None])
    return (
        put(sides.positives, orders[0], (kept * share[..., None]).astype(kind)),
        put(sides.negatives, orders[1], costs.astype(kind)),
    )


def _sums(ranked: Floats, k: int) -> Floats:
    """Return Σ of the first 0, 1, …, k ranks, and the sum of all as the last."""
    there = np.where(ranked > -np.inf, ranked, 0).astype(np.float64)
    total = np.zeros((*there.shape[:-1], k + 2))
    first = np.cumsum(there[..., :k], axis=-1)
    total[..., 1 : first.shape[-1] + 1] = first
    total[..., first.shape[-1] + 1 :] = first[..., -1:]
    total[..., -1] = there.sum(-1)
    return total


class LogisticGradient:
    """Gradient of the mean cross-entropy over all rows."""

    def __call__(self, users: Users, scores: Tensor) -> Tensor:
        weight = torch.ones(len(users.target)) if users.weight is None else users.weight
        return _cross_entropy(users, scores, weight.to(scores.dtype).expand_as(scores))


class SelectedGradient:
    """Gradient of Select-pAp@k: cross-entropy on a pool that is chosen anew every ``inner`` steps.

    The pool has the β = min(n⁺, k) highest positives and the k highest negatives of every user by
    the scores at that moment (Budhiraja et al. 2020, Algorithm 1). One object serves one descent.
    """

    def __init__(self, k: int, inner: int) -> None:
        self.k, self.inner = k, inner
        self._pool: Tensor | None = None
        self._step = 0

    def __call__(self, users: Users, scores: Tensor) -> Tensor:
        if self._pool is None or len(self._pool) != len(scores) or self._step % self.inner == 0:
            self._pool = self.pool(users, scores)
        self._step += 1
        return _cross_entropy(users, scores, self._pool)

    @torch.no_grad()
    def pool(self, users: Users, scores: Tensor) -> Tensor:
        """Return the part of every row that is in the pool, (settings, rows)."""
        if users.weight is None:
            return users.by_side(self._top, scores)
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

    def _top(self, sides: Sides) -> tuple[Floats, Floats]:
        """Return 1 for the k highest items, and the share of equal scores at the end."""
        found = []
        for side in (sides.positives, sides.negatives):
            order = order_of(side)
            there = np.take_along_axis(side, order[..., : self.k], -1) > -np.inf
            found.append(put(side, order, there.astype(side.dtype)))
        return found[0], found[1]


def _cross_entropy(users: Users, scores: Tensor, weight: Tensor) -> Tensor:
    errors = weight * (torch.sigmoid(scores) - users.target.to(scores.dtype))
    total: Tensor = errors / weight.sum(-1, keepdim=True)
    return total
