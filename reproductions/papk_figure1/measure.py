"""One surrogate descended under each margin condition, all of them watched."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import truncnorm

from rankwise.metrics import pap_at_k
from rankwise.objectives import Objective, PairwiseAUC, PApAtK
from rankwise.pairs import Hinge
from reproductions.base import Setting

__all__ = ["CONDITIONS", "WATCHED", "Condition", "Plan", "Point", "draw", "measure"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Condition:
    """A margin condition and the surrogate that is to vanish under it."""

    name: str
    surrogate: str
    eta: float  # where its surrogate vanishes, and not in the first step
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
    "AUC (4)": lambda k: PairwiseAUC(Hinge(1.0)),
}
"""What is watched, made for a k."""


@dataclass(frozen=True)
class Plan:
    """Section 7.2: sizes, and how long to descend."""

    n_positives: int = 250
    n_negatives: int = 2_000
    k: int = 30
    features: int = 5
    steps: int = 2_000
    looks: int = 60

    @classmethod
    def of(cls, setting: Setting) -> Plan:
        """The plan for a setting."""
        return cls(steps=200, looks=25) if setting.quick else cls()


@dataclass(frozen=True)
class Point:
    """The value of a surrogate, or of the risk, after so many steps."""

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
    points = []
    for condition in setting.track(CONDITIONS, "descending"):
        rng = np.random.default_rng([setting.seed, CONDITIONS.index(condition)])
        positives, negatives = draw(condition, plan, rng)
        x = torch.from_numpy(np.concatenate([positives, negatives]))
        target = torch.arange(len(x)) < len(positives)
        points += _descend(condition, x, target, plan)
    return points


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
