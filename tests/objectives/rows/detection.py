"""Rows of the detectors' losses, their published rules written out as loops over the positives."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from tests.objectives.contract import Row
from torch import Tensor

from rankwise.baselines import DistributionalRanking, ErrorDrivenAP


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
    Row("DistributionalRanking", DistributionalRanking, dr, shifts=False),
]
