"""Rows of the detectors' losses, their published rules written out as loops over the positives."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from tests.objectives.contract import Row
from torch import Tensor

from rankwise.baselines import DistributionalRanking, ErrorDrivenAP, RankSort


def error_driven_loop(
    interpolated: bool = True, delta: float = 1.0
) -> Callable[[Tensor, Tensor], Tensor]:
    """The value by the published loop, and its gradient as a linear function of the scores."""

    def risk(scores: Tensor, target: Tensor) -> Tensor:
        target, fixed = target.bool(), scores.detach()
        positives, negatives = fixed[target], fixed[~target]
        gradient = torch.zeros_like(fixed)
        to_negatives, errors = torch.zeros_like(negatives), torch.zeros_like(positives)
        best = 0.0
        for i in positives.argsort().tolist():
            among = ((positives - positives[i]) / (2 * delta) + 0.5).clamp(0, 1)
            above = ((negatives - positives[i]) / (2 * delta) + 0.5).clamp(0, 1)
            right = 1 + among.sum() - among[i]
            lost = above / (right + above.sum())
            precision = float(right / (right + above.sum()))
            if interpolated and precision < best:
                lost = lost * (1 - best) / (1 - precision)
            best = max(best, precision)
            to_negatives += lost
            errors[i] = 1 - best if interpolated else 1 - precision
        gradient[target], gradient[~target] = -errors, to_negatives
        pull = (gradient / len(positives) * scores).sum()
        return errors.mean() + pull - pull.detach()

    return risk


def rank_sort_loop(delta: float = 0.5) -> Callable[[Tensor, Tensor], Tensor]:
    """Rank & Sort loss by the published loop, and its gradient as a linear function of scores."""

    def step(differences: Tensor) -> Tensor:
        return (differences / (2 * delta) + 0.5).clamp(0, 1)

    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positive, fixed = target > 0, scores.detach()
        positives, negatives = fixed[positive], fixed[~positive]
        labels = target[positive].to(fixed.dtype)
        to_positives, to_negatives = torch.zeros_like(positives), torch.zeros_like(negatives)
        total = fixed.new_zeros(())
        for i in range(len(positives)):
            among, above = step(positives - positives[i]), step(negatives - positives[i])
            ranking = above.sum() / (among.sum() + above.sum())
            right = among * (labels >= labels[i])
            current = (among * (1 - labels)).sum() / among.sum()
            sorting = current - (right * (1 - labels)).sum() / right.sum()
            total = total + ranking + sorting
            if above.sum() > 1e-10:
                to_positives[i] -= ranking
                to_negatives += above / above.sum() * ranking
            wrong = among * (labels < labels[i])
            if wrong.sum() > 1e-10:
                to_positives[i] -= sorting
                to_positives += wrong / wrong.sum() * sorting
        gradient = torch.zeros_like(fixed)
        gradient[positive], gradient[~positive] = to_positives, to_negatives
        pull = (gradient / len(positives) * scores).sum()
        return total / len(positives) + pull - pull.detach()

    return risk


def dr(scores: Tensor, target: Tensor) -> Tensor:
    p, target = 1 / (1 + torch.exp(-scores)), target.bool()
    positives, negatives = p[target], p[~target]
    weight_n = torch.exp(negatives / (0.1 / math.log(3.5)))
    weight_p = torch.exp(-positives)
    high = (weight_n * negatives).sum() / weight_n.sum()
    low = (weight_p * positives).sum() / weight_p.sum()
    return 4 * torch.log(1 + torch.exp(6 * (high - low + 0.5))) / 6


ROWS = [
    Row("ErrorDrivenAP", ErrorDrivenAP, error_driven_loop()),
    Row(
        "ErrorDrivenAP, as printed",
        ErrorDrivenAP,
        error_driven_loop(interpolated=False, delta=0.3),
        {"interpolated": False, "delta": 0.3},
    ),
    Row("RankSort", RankSort, rank_sort_loop(), graded=True, shares=True),
    Row(
        "RankSort, narrow",
        RankSort,
        rank_sort_loop(0.1),
        {"delta": 0.1},
        graded=True,
        shares=True,
    ),
    Row("DistributionalRanking", DistributionalRanking, dr, shifts=False),
]
