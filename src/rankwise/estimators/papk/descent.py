"""Algorithms 1 and 2 for a linear model: subgradients, and one descent for many settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.estimators.data import Floats, Vector
from rankwise.estimators.linear._search import Design, mean_log_loss, search
from rankwise.estimators.papk.users import MAX_PAIRED_K, Sides, Users
from rankwise.objectives import Objective, PApAtK
from rankwise.objectives._scaled import ScaledObjective

if TYPE_CHECKING:
    from rankwise.estimators.papk.ranker import PApAtKRanker


ClosedForm = Callable[[Sides], tuple[Floats, Floats]]
"""From scores to the subgradients by the positives and by the negatives, summed over users."""

_Positives = Literal["highest", "lowest", "both", "all"]
_POSITIVES: dict[str, _Positives] = {"ramp": "highest", "max": "lowest", "ts": "both"}


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
    if which is None or objective.k > MAX_PAIRED_K:
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


Evaluate = Callable[[Vector], Vector]
"""From weights, (columns, settings), to the metric of each setting; larger is better."""

_DIVERGED = 1e100  # weights of this length give no usable scores


@dataclass(frozen=True)
class Problem:
    """Training rows, the metric of the held-out rows, and the seed."""

    design: Design
    users: Users
    evaluate: Evaluate
    seed: int

    def logistic_start(self, *, alpha: float, unit: bool) -> tuple[Vector, float]:
        """Fit a logistic regression to all rows with the ridge α/2 · ‖w‖²; weights and intercept.

        ``unit`` divides both so that the scores have spread 1, the scale of the hinge's margin.
        """
        loss = mean_log_loss(self.design, self.users.target, self.users.weight)
        zero = np.zeros(self.design.columns + 1)
        found, _ = search(self.design, loss, zero, ridge=alpha, max_iter=200, tolerance=1e-6)
        if unit:
            found = found / self.users.spread(self.design.scores(found[:-1]))
        return found[:-1], float(found[-1])


@dataclass(frozen=True)
class Found:
    """The best iterate of every setting, (columns, settings), its metric, and the steps taken."""

    weights: Vector
    intercepts: Vector
    values: Vector
    steps: NDArray[np.int64]


def descend(
    problem: Problem,
    gradient: Gradient,
    etas: Vector,
    lams: Vector,
    options: PApAtKRanker,
    *,
    start: tuple[Vector, float] | None = None,
    every: int = 5,
) -> Found:
    """Iterate w ← Π[w − η/√(t+1) · (g + 2λw)], g a subgradient of the mean over users.

    ``start`` is w₀ with its intercept; None: zero, which is never the best. The ridge is λ‖w‖². Π
    projects on the ball of ``options.radius``. With ``options.batch_users`` every step sees that
    many users, drawn without replacement until all were seen.

    The iterate is evaluated every ``every`` steps, and the best one is kept. A setting ends after
    ``options.patience`` evaluations without improvement, when a step moves the weights by less than
    ``options.tolerance`` of their length, or when they diverge.
    """
    iterates = _Iterates(problem.design.columns, len(etas))
    if start is not None:
        iterates.weights += start[0][:, None]
        iterates.intercepts += start[1] if options.intercept else 0.0
        iterates.evaluate(problem.evaluate)
    draws = _draws(problem.users, options.batch_users, problem.seed)
    for step in range(options.max_iter):
        running = iterates.running
        rows, users = next(draws)
        matrix = problem.design.matrix if rows is None else problem.design.matrix[rows]
        now = iterates.weights[:, running]
        scores = np.ascontiguousarray(now.T.astype(matrix.dtype) @ matrix.T)
        if options.intercept:
            scores += iterates.intercepts[running, None].astype(matrix.dtype)
        by_score = gradient(users, torch.from_numpy(scores)).numpy()
        size = etas[running] / np.sqrt(step + 1)
        whole = np.asarray(by_score.astype(matrix.dtype, copy=False) @ matrix, np.float64).T
        moved = now - size * (whole + 2 * lams[running] * now)
        if options.radius is not None:
            moved *= options.radius / np.maximum(np.sqrt((moved**2).sum(0)), options.radius)
        iterates.weights[:, running] = moved
        if options.intercept:
            iterates.intercepts[running] -= size * by_score.sum(1, dtype=np.float64)
        iterates.best.steps[running] = step + 1
        # With NaN both comparisons are False.
        length = np.sqrt((moved**2).sum(0))
        settled = np.sqrt(((moved - now) ** 2).sum(0)) <= options.tolerance * length
        ended = (settled & (rows is None)) | ~(length < _DIVERGED)
        if (step + 1) % every == 0 or step + 1 == options.max_iter or ended.any():
            iterates.evaluate(problem.evaluate)
            ended |= iterates.since[running] >= options.patience
        iterates.running = running[~ended]
        if not len(iterates.running):
            break
    return iterates.best


class _Iterates:
    """Current weights of every setting, the settings still running, and the best of each."""

    def __init__(self, columns: int, settings: int) -> None:
        self.weights, self.intercepts = np.zeros((columns, settings)), np.zeros(settings)
        self.running = np.arange(settings)
        self.since = np.zeros(settings, dtype=np.int64)  # evaluations since the last improvement
        self.best = Found(
            self.weights.copy(),
            self.intercepts.copy(),
            np.full(settings, -np.inf),
            np.zeros(settings, np.int64),
        )

    def evaluate(self, evaluate: Evaluate) -> None:
        """Evaluate the running settings, and keep those that improved."""
        self.since[self.running] += 1
        sound = self.running[(np.abs(self.weights[:, self.running]) < _DIVERGED).all(0)]
        if not len(sound):
            return
        values = evaluate(self.weights[:, sound])
        better = values > self.best.values[sound]
        chosen = sound[better]
        self.best.values[chosen] = values[better]
        self.best.weights[:, chosen] = self.weights[:, chosen]
        self.best.intercepts[chosen] = self.intercepts[chosen]
        self.since[chosen] = 0


def _draws(
    users: Users, size: int | None, seed: int
) -> Iterator[tuple[NDArray[np.int64] | None, Users]]:
    """Yield all users at every step, or the rows of ``size`` of them in turn, and these users."""
    while size is None or size >= users.number:
        yield None, users
    rng = np.random.default_rng(seed)
    while True:
        for drawn in torch.from_numpy(rng.permutation(users.number)).split(size):
            chosen = torch.zeros(users.number, dtype=torch.bool)
            chosen[drawn] = True
            rows, part = users.subset(chosen)
            yield rows.numpy(), part
