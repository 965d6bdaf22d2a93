"""Greedy-pAp@k: columns added one by one, each with the weight that ranks best."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse

from rankwise.estimators.papk.descent import Found, Problem

__all__ = ["combine_greedily"]

Array = NDArray[np.float64]


def combine_greedily(problem: Problem, k: int, angles: int, most: int | None) -> Found:
    """The heuristic of Ricamato and Tortorella (2011), with Micro-pAp@k as what it raises.

    Columns come in the order of what each ranks alone, in its better direction. The next one z
    turns the score f so far into cos θ · f + sin θ · z, both of spread 1, with the best of
    2·``angles`` + 1 angles θ in (−π/2, π/2); θ = 0 leaves z out and wins ties. The first so many
    columns that the judge likes best are kept; ``most`` is where to stop.
    """
    columns = problem.design.columns
    alone = _gains(problem, k, np.concatenate([np.eye(columns), -np.eye(columns)], axis=1))
    sign = np.where(alone[:columns] >= alone[columns:], 1.0, -1.0)
    order = np.argsort(-alone.reshape(2, columns).max(0), kind="stable")[:most]
    # From no turn at all to a quarter turn, both ways; the first of equals wins.
    turns = np.arange(1, angles + 1) * (np.pi / 2 / (angles + 1))
    theta = np.concatenate([[0.0], np.stack([turns, -turns], 1).ravel()])
    weights = np.zeros(columns)
    weights[order[0]] = sign[order[0]]
    path = [weights]
    for column in order[1:]:
        spread = problem.users.spread(_scores(problem, path[-1][:, None])[:, 0])
        added = np.zeros((columns, len(theta)))
        added[column] = np.sin(theta)
        candidates = np.cos(theta) * (path[-1] / spread)[:, None] + added
        path.append(candidates[:, int(np.argmax(_gains(problem, k, candidates)))])
    steps = np.stack(path, axis=1)
    values = problem.judge(steps)
    best = int(np.argmax(values))
    return Found(steps[:, [best]], np.zeros(1), values[[best]], np.array([best + 1]))


def _scores(problem: Problem, weights: Array) -> Array:
    matrix = problem.design.matrix
    if issparse(matrix) or weights.shape[1] == 1:
        return np.asarray(matrix @ weights, dtype=np.float64)
    used = np.flatnonzero(weights.any(1))
    return np.asarray(matrix[:, used] @ weights[used], dtype=np.float64)


def _gains(problem: Problem, k: int, weights: Array, at_once: int = 16) -> Array:
    parts = []
    for start in range(0, weights.shape[1], at_once):
        scores = _scores(problem, weights[:, start : start + at_once])
        parts.append(problem.users.gain(torch.from_numpy(np.ascontiguousarray(scores.T)), k))
    return torch.cat(parts).numpy()
