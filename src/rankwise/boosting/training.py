"""Trees in stages: one objective after another, each from the best round of the one before."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from rankwise.baselines.pointwise import PointwiseObjective
from rankwise.boosting.engines import Engine
from rankwise.boosting.gradient import Gradient
from rankwise.boosting.rows import Floats
from rankwise.objectives import Objective

_FURTHEST = 50.0


def first_score(objective: Objective | None, prior: float) -> float:
    """Return the best constant of a mean over items, else the log-odds of the prior.

    A ranking objective is the same for every constant; its scores are taken as logits. The best
    one of the focal loss is nearer to 0 than the log-odds, where its first tree would leap.
    """
    if not isinstance(objective, PointwiseObjective):
        return math.log(prior / (1 - prior))
    low, high = -_FURTHEST, _FURTHEST
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if _slope(objective, middle, prior) < 0 else (low, middle)
    return (low + high) / 2


def _slope(objective: Objective, score: float, prior: float) -> float:
    scores = torch.full((2,), score, dtype=torch.float64, requires_grad=True)
    weight = torch.tensor([1 - prior, prior], dtype=torch.float64)
    risk = objective(scores, torch.tensor([0.0, 1.0]), weight=weight)
    return float(torch.autograd.grad(risk, scores)[0].sum())


@dataclass(frozen=True)
class Stage:
    """Trees of one gradient, up to a total number of trees."""

    gradient: Gradient
    until: int


def boost(
    engine: Engine,
    stages: Sequence[Stage],
    evaluate: Callable[[Floats], float] | None = None,
    patience: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> float:
    """Grow the trees of all stages and return the best value of ``evaluate`` (maximized).

    With ``evaluate`` every stage ends after ``patience`` trees without improvement, and goes back
    to the best round. The next stage starts there, so a later stage can only improve the value.
    ``stop`` is asked after every tree and ends its stage.
    """
    best, kept = float("-inf"), 0
    for stage in stages:
        while engine.rounds < stage.until:
            if not engine.grow(stage.gradient):
                break
            if evaluate is None:
                kept = engine.rounds
            else:
                value = engine.value(evaluate)
                if value > best:
                    best, kept = value, engine.rounds
                elif patience is not None and engine.rounds - kept >= patience:
                    break
            if stop():
                break
        engine.cut(kept)
    return best
