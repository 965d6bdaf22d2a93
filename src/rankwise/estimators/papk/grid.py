"""All settings of a grid in one descent, and the choice among them by users left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.estimators.data import Part
from rankwise.estimators.linear.design import Design
from rankwise.estimators.papk.descent import Judge, Problem
from rankwise.estimators.papk.users import Users

if TYPE_CHECKING:
    from rankwise.estimators.papk.grouped import GroupedRanker

__all__ = ["ETAS", "LAMS", "Grid", "folds_of_users", "problem_of", "search_grid", "settings"]

Array = NDArray[np.float64]

ETAS = (1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5)
"""The paper's learning rates (Section 7.3.2)."""
LAMS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""The paper's ridges."""


@dataclass(frozen=True)
class Grid:
    """What each setting of (η, λ) is worth on the rows held out, and its model for X itself."""

    settings: tuple[tuple[float, float], ...]
    values: Array  # (settings,)
    coefficients: Array  # (columns, settings)
    steps: NDArray[np.int64]

    @property
    def best(self) -> int:
        """The setting that is worth most, the first of equals."""
        return int(np.argmax(self.values))


def settings(etas: Sequence[float], lams: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Every η with every λ."""
    if not len(etas) or not len(lams):
        raise ValueError(f"etas and lams must not be empty, got {list(etas)} and {list(lams)}")
    return tuple((float(eta), float(lam)) for eta, lam in product(etas, lams))


def problem_of(
    ranker: GroupedRanker, train: Part, held_out: Part, seed: int, *, single: bool = False
) -> Problem:
    """The columns as the ranker wants them, its users, and Micro-pAp@k of those held out."""
    same = held_out is train
    if train.groups is not None:
        # What is taken together stands together: no result sees the order of the rows.
        train = train.rows(np.lexsort((train.target, train.groups)))
    held_out = train if same else held_out
    design = Design(train.X, train.weight, raw=not ranker.standardize, single=single)
    users = Users.of_part(train)
    judge = _judge(design, held_out, users if same else Users.of_part(held_out), ranker.k)
    return Problem(design, users, judge, seed)


def _judge(design: Design, part: Part, users: Users, k: int) -> Judge:
    def worth(weights: Array) -> Array:
        # The mean of the columns moves all scores of a setting alike: no ranking sees it.
        scores = np.asarray(part.X @ (weights / design.spread[:, None]), dtype=np.float64)
        return users.gain(torch.from_numpy(np.ascontiguousarray(scores.T)), k).numpy()

    return worth


def search_grid(
    ranker: GroupedRanker,
    train: Part,
    held_out: Part,
    grid: Sequence[tuple[float, float]],
    seed: int = 0,
    *,
    single: bool = False,
) -> Grid:
    """Train every setting on ``train``, keep its best iterate on ``held_out``.

    ``single``: products with X in single precision, in about two thirds of the time.
    """
    problem = problem_of(ranker, train, held_out, seed, single=single)
    found = ranker._search(problem, grid)
    coefficients = found.weights / problem.design.spread[:, None]
    return Grid(tuple(grid)[: len(found.values)], found.values, coefficients, found.steps)


def folds_of_users(part: Part, folds: int, seed: int) -> list[NDArray[np.bool_]]:
    """For each fold the rows of the users left out; those with both classes are dealt evenly."""
    groups = part.groups
    number = 1 if groups is None else int(groups.max()) + 1
    if groups is None or number < folds:
        raise ValueError(
            f"groups must name at least folds={folds} users to leave out in turn, got {number}"
        )
    positives = np.bincount(groups, part.target > 0, number)
    sizes = np.bincount(groups, minlength=number)
    order = np.random.default_rng(seed).permutation(number)
    complete = (positives > 0) & (positives < sizes)
    if complete.sum() < folds:
        raise ValueError(
            f"at least folds={folds} users must have both classes, got {int(complete.sum())}"
        )
    order = order[np.argsort(~complete[order], kind="stable")]
    fold = np.empty(number, dtype=np.int64)
    fold[order] = np.arange(number) % folds
    return [fold[groups] == f for f in range(folds)]
