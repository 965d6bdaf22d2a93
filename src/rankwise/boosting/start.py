"""The score before the first tree."""

from __future__ import annotations

import math

import torch

from rankwise.baselines.itemwise import ItemwiseObjective
from rankwise.objectives import Objective

__all__ = ["first_score"]

_FURTHEST = 50.0


def first_score(objective: Objective | None, prior: float) -> float:
    """The best constant of a mean over items, else the log-odds of the prior.

    A ranking objective is the same for every constant; its scores are taken as logits. The best
    one of the focal loss is nearer to 0 than the log-odds, where its first tree would leap.
    """
    if not isinstance(objective, ItemwiseObjective):
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
