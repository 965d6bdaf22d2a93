"""Algorithm 1 for a linear model, for many settings of η and λ side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.estimators.linear.design import Design
from rankwise.estimators.papk.gradients import Gradient
from rankwise.estimators.papk.users import Users

__all__ = ["Found", "Judge", "Plan", "Problem", "descend"]

Array = NDArray[np.float64]
Judge = Callable[[Array], Array]
"""From weights, (columns, settings), to what each setting is worth; larger is better."""


_DIVERGED = 1e100  # no length of weights that scores could be made of


@dataclass(frozen=True)
class Problem:
    """What is learned from, how it is judged, and the seed of whatever is random."""

    design: Design
    users: Users
    judge: Judge
    seed: int


@dataclass(frozen=True)
class Plan:
    """How long to go, and when to stop.

    ``every`` so many steps the iterate is judged, and the best one is kept. A setting ends when
    ``patience`` looks in a row were no better, when a step moves the weights by less than
    ``tolerance`` of their length, or when they are no numbers any more.
    """

    steps: int = 300
    every: int = 5
    patience: int = 20
    tolerance: float = 1e-6
    radius: float | None = None
    batch_users: int | None = None
    intercept: bool = False
    start: tuple[Array, float] | None = None  # weights and intercept; None: zero, never the best


@dataclass(frozen=True)
class Found:
    """The best iterate of every setting, (columns, settings), its worth, and the steps taken."""

    weights: Array
    intercepts: Array
    values: Array
    steps: NDArray[np.int64]


def descend(
    problem: Problem,
    gradient: Gradient,
    etas: Array,
    lams: Array,
    plan: Plan,
) -> Found:
    """w ← Π[w − η/√(t+1) · (g + 2λw)], g a subgradient of the mean over users.

    w₀ is ``plan.start``, 0 by default. The ridge is λ‖w‖². Π projects on the ball of
    ``plan.radius``. With ``plan.batch_users`` every step sees that many users, drawn without
    replacement until all were seen.
    """
    walk = _Walk(problem.design.columns, len(etas))
    if plan.start is not None:
        walk.weights += plan.start[0][:, None]
        walk.intercepts += plan.start[1] if plan.intercept else 0.0
        walk.look(problem.judge)
    draws = _Draws(problem.users, plan.batch_users, problem.seed)
    for step in range(plan.steps):
        going = walk.going
        rows, users = draws.next()
        matrix = problem.design.matrix if rows is None else problem.design.matrix[rows]
        now = walk.weights[:, going]
        scores = _scores(matrix, now, walk.intercepts[going] if plan.intercept else None)
        by_score = gradient(users, torch.from_numpy(scores)).numpy()
        size = etas[going] / np.sqrt(step + 1)
        whole = np.asarray(by_score.astype(matrix.dtype, copy=False) @ matrix, np.float64).T
        moved = _projected(now - size * (whole + 2 * lams[going] * now), plan.radius)
        walk.weights[:, going] = moved
        if plan.intercept:
            walk.intercepts[going] -= size * by_score.sum(1, dtype=np.float64)
        walk.best.steps[going] = step + 1
        # A NaN is no number either: both comparisons are then False.
        length = np.sqrt((moved**2).sum(0))
        settled = np.sqrt(((moved - now) ** 2).sum(0)) <= plan.tolerance * length
        ended = (settled & (rows is None)) | ~(length < _DIVERGED)
        if (step + 1) % plan.every == 0 or step + 1 == plan.steps or ended.any():
            walk.look(problem.judge)
            ended |= walk.since[going] >= plan.patience
        walk.going = going[~ended]
        if not len(walk.going):
            break
    return walk.best


def _scores(matrix: Any, weights: Array, intercepts: Array | None) -> NDArray[Any]:
    """(settings, rows): a list of one setting stands together."""
    found = np.ascontiguousarray(weights.T.astype(matrix.dtype) @ matrix.T)
    if intercepts is not None:
        found += intercepts[:, None].astype(matrix.dtype)
    return found


class _Walk:
    """Where every setting is, which of them still go, and the best that each has seen."""

    def __init__(self, columns: int, settings: int) -> None:
        self.weights, self.intercepts = np.zeros((columns, settings)), np.zeros(settings)
        self.going = np.arange(settings)
        self.since = np.zeros(settings, dtype=np.int64)  # looks since the last better one
        self.best = Found(
            self.weights.copy(),
            self.intercepts.copy(),
            np.full(settings, -np.inf),
            np.zeros(settings, np.int64),
        )

    def look(self, judge: Judge) -> None:
        """Judge where the settings are, and keep what is better than before."""
        self.since[self.going] += 1
        sound = self.going[(np.abs(self.weights[:, self.going]) < _DIVERGED).all(0)]
        if not len(sound):
            return
        values = judge(self.weights[:, sound])
        better = values > self.best.values[sound]
        chosen = sound[better]
        self.best.values[chosen] = values[better]
        self.best.weights[:, chosen] = self.weights[:, chosen]
        self.best.intercepts[chosen] = self.intercepts[chosen]
        self.since[chosen] = 0


def _projected(weights: Array, radius: float | None) -> Array:
    if radius is None:
        return weights
    length = np.sqrt((weights**2).sum(0))
    inside: Array = weights * (radius / np.maximum(length, radius))
    return inside


class _Draws:
    """All users at every step, or some of them in turn."""

    def __init__(self, users: Users, size: int | None, seed: int) -> None:
        self.users, self.size = users, size
        self.rng = np.random.default_rng(seed)
        self.waiting = np.zeros(0, dtype=np.int64)

    def next(self) -> tuple[NDArray[np.int64] | None, Users]:
        if self.size is None or self.size >= self.users.number:
            return None, self.users
        if not len(self.waiting):
            self.waiting = self.rng.permutation(self.users.number)
        chosen = torch.zeros(self.users.number, dtype=torch.bool)
        chosen[torch.from_numpy(self.waiting[: self.size])] = True
        self.waiting = self.waiting[self.size :]
        rows, users = self.users.subset(chosen)
        return rows.numpy(), users
