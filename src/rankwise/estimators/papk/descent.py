"""Algorithm 1 for a linear model, for many settings of η and λ in one descent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.estimators.linear._design import Design
from rankwise.estimators.linear._search import mean_log_loss, search
from rankwise.estimators.papk.subgradients import Gradient
from rankwise.estimators.papk.users import Users

if TYPE_CHECKING:
    from rankwise.estimators.papk.ranker import PApAtKRanker

Array = NDArray[np.float64]
Evaluate = Callable[[Array], Array]
"""From weights, (columns, settings), to the metric of each setting; larger is better."""

_DIVERGED = 1e100  # weights of this length give no usable scores


@dataclass(frozen=True)
class Problem:
    """Training rows, the metric of the held-out rows, and the seed."""

    design: Design
    users: Users
    evaluate: Evaluate
    seed: int


@dataclass(frozen=True)
class Found:
    """The best iterate of every setting, (columns, settings), its metric, and the steps taken."""

    weights: Array
    intercepts: Array
    values: Array
    steps: NDArray[np.int64]


def descend(
    problem: Problem,
    gradient: Gradient,
    etas: Array,
    lams: Array,
    options: PApAtKRanker,
    *,
    start: tuple[Array, float] | None = None,
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


def logistic_start(
    design: Design, users: Users, *, alpha: float, unit: bool
) -> tuple[Array, float]:
    """Fit a logistic regression to all rows with the ridge α/2 · ‖w‖²; weights and intercept.

    ``unit`` divides both so that the scores have spread 1, the scale of the hinge's margin.
    """
    loss, start = mean_log_loss(design, users.target, users.weight), np.zeros(design.columns + 1)
    found, _ = search(design, loss, start, ridge=alpha, max_iter=200, tolerance=1e-6)
    if unit:
        found = found / users.spread(design.scores(found[:-1]))
    return found[:-1], float(found[-1])
