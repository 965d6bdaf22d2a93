"""Descents under three margin conditions, with all surrogates watched."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import truncnorm

from rankwise.metrics import pap_at_k
from rankwise.objectives import Objective, PairwiseAUC, PApAtK
from rankwise.pairs import Hinge
from reproductions.frame import BasePlan, Setting

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Condition:
    """A margin condition and the surrogate that is descended under it."""

    name: str
    surrogate: str
    eta: float
    vanish: tuple[str, ...]  # those that the condition makes zero at w = 1

    def highest_negative(self, positives: Array, beta: int) -> float:
        """The highest score a negative may have, given the scores of the positives."""
        ordered = np.sort(positives)
        if self.name == "strong":
            return float(ordered[0] - 1)
        if self.name == "moderate":
            return float(min(ordered[0], ordered[-beta] - 1))
        return float(ordered[:beta].mean() - 1)


CONDITIONS = (
    Condition("strong", "max", 0.5, ("ramp", "avg", "max", "ts")),
    Condition("β", "avg", 0.01, ("ramp", "avg")),
    Condition("moderate", "ts", 0.01, ("ramp", "ts")),
)
WATCHED: dict[str, Callable[[int], Objective]] = {
    "ramp": partial(PApAtK, form="ramp", score_scale=1),
    "avg": partial(PApAtK, form="avg", score_scale=1),
    "max": partial(PApAtK, form="max", score_scale=1),
    "ts": partial(PApAtK, form="ts", score_scale=1),
    "ts_eq14": partial(PApAtK, form="ts_eq14", score_scale=1),
    "AUC (4)": lambda k: PairwiseAUC(Hinge(1.0)),
}
"""What is watched, made for a k."""


@dataclass(frozen=True)
class Plan(BasePlan):
    """Section 7.2: sizes, and how long to descend."""

    QUICK: ClassVar = {"steps": 200, "looks": 25}
    DRAWS = None  # one user, as in the paper; another seed is another user

    n_positives: int = 250
    n_negatives: int = 2_000
    k: int = 30
    features: int = 5
    steps: int = 2_000
    looks: int = 60
    etas: tuple[float, ...] = (0.01, 0.03, 0.1, 0.2, 0.3)  # others of the first condition


@dataclass(frozen=True)
class Point:
    """The value of a surrogate, or of the risk, after a number of steps."""

    condition: str
    step: int
    watched: str
    value: float


def draw(condition: Condition, plan: Plan, rng: np.random.Generator) -> tuple[Array, Array]:
    """Positives from N(0, I); negatives from N(½, I) as far as w = 1 keeps the condition.

    Only the sum of the features decides, so that is drawn from its cut-off law and the rest of x
    from its own: what drawing until the condition holds would give.
    """
    positives = rng.normal(size=(plan.n_positives, plan.features))
    root = math.sqrt(plan.features)
    cut = condition.highest_negative(positives.sum(1), min(plan.k, plan.n_positives)) / root
    mean = 0.5 * root
    along = truncnorm.rvs(-np.inf, cut - mean, loc=mean, size=plan.n_negatives, random_state=rng)
    across = rng.normal(size=(plan.n_negatives, plan.features))
    across -= across.mean(1, keepdims=True)
    return positives, across + along[:, None] / root


def measure(plan: Plan, setting: Setting) -> list[Point]:
    """Descend under every condition, looking at all surrogates on the way."""

    def one(name: str) -> list[Point]:
        condition = next(c for c in CONDITIONS if c.name == name)
        return _descend(condition, *_problem(condition, plan, setting), plan)

    found = setting.each(plan, [c.name for c in CONDITIONS], "descending", one, list[Point])
    return [point for points in found for point in points]


def step_sizes(plan: Plan, setting: Setting) -> dict[float, float]:
    """The last value of max under the first condition, by η: what its own η was chosen among."""
    condition = CONDITIONS[0]

    def one(eta: float) -> list[Point]:
        x, target = _problem(condition, plan, setting)
        changed, short = replace(condition, eta=eta), replace(plan, looks=2)
        points = _descend(changed, x, target, short)
        return [p for p in points if p.watched == condition.surrogate]

    found = setting.each(plan, list(plan.etas), "trying step sizes", one, list[Point])
    return {eta: points[-1].value for eta, points in zip(plan.etas, found, strict=True)}


def _problem(
    condition: Condition, plan: Plan, setting: Setting
) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng([setting.seed, CONDITIONS.index(condition)])
    positives, negatives = draw(condition, plan, rng)
    x = torch.from_numpy(np.concatenate([positives, negatives]))
    return x, torch.arange(len(x)) < len(positives)


def _descend(
    condition: Condition, x: torch.Tensor, target: torch.Tensor, plan: Plan
) -> list[Point]:
    watched = {name: made(plan.k) for name, made in WATCHED.items()}
    loss = watched[condition.surrogate]
    looks = set(np.unique(np.geomspace(1, plan.steps + 1, plan.looks).round().astype(int) - 1))
    weights, points = x.new_zeros(x.shape[1]), []
    for step in range(plan.steps + 1):
        if step in looks:
            with torch.no_grad():
                scores = x @ weights
                values = {name: float(one(scores, target)) for name, one in watched.items()}
                gain = torch.as_tensor(pap_at_k(scores, target, k=plan.k, ties="against"))
            values["risk"] = 1 - float(gain)
            points += [Point(condition.name, step, name, v) for name, v in values.items()]
        w = weights.requires_grad_()
        (gradient,) = torch.autograd.grad(loss(x @ w, target), w)
        weights = (w - condition.eta / (step + 1) ** 0.5 * gradient).detach()
    return points
