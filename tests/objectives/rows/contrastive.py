"""Rows of the contrastive losses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from tests.objectives.contract import Row, log_mean_exp, sides
from torch import Tensor

from rankwise.baselines import InfoNCE, NTXent, SupCon
from rankwise.objectives import Objective
from rankwise.objectives.contrastive import (
    EntropicRisk,
    GlobalContrastive,
    IndividualTemperatures,
    LearnedTemperature,
)


def by_list(objective: type[Objective]) -> Callable[..., Objective]:
    """One list by default, as the table has it."""

    def make(num_lists: int = 1, **options: Any) -> Objective:
        return objective(num_lists=num_lists, **options)

    return make


def dense(
    scores: Tensor, target: Tensor, temperature: float, epsilon: float = 0.0, rho: float = 0.0
) -> Tensor:
    positives, negatives = sides(scores, target)
    inner = log_mean_exp((negatives - positives.mean()) / temperature)
    if epsilon:
        inner = torch.logaddexp(inner, inner.new_tensor(epsilon).log())
    return temperature * (inner + rho)


def dense_over_pairs(scores: Tensor, target: Tensor) -> Tensor:
    """Several positives are the mean over them of the loss with that one."""
    positives, negatives = sides(scores, target)
    return (0.5 * log_mean_exp((negatives - positives[:, None]) / 0.5)).mean()


def dense_info_nce(scores: Tensor, target: Tensor, temperature: float = 0.5) -> Tensor:
    positives, negatives = (side / temperature for side in sides(scores, target))
    return (torch.logaddexp(positives, negatives.logsumexp(0)) - positives).mean()


def dense_sup_con(scores: Tensor, target: Tensor) -> Tensor:
    positives, _ = sides(scores / 0.5, target)
    return ((scores / 0.5).logsumexp(0) - positives).mean()


def dense_entropic(scores: Tensor, target: Tensor) -> Tensor:
    """10 000 classes: the mean over those sampled stands for all that are not the item's own."""
    positives, negatives = sides(scores, target)
    return (1 + (CLASSES - len(positives)) * (negatives - positives.mean()).exp().mean()).log()


CLASSES = 10_000
GLOBAL, INDIVIDUAL = by_list(GlobalContrastive), by_list(IndividualTemperatures)
LEARNED, ENTROPIC = by_list(LearnedTemperature), by_list(EntropicRisk)
ROWS = [
    Row("GlobalContrastive", GLOBAL, dense_over_pairs, {"temperature": 0.5}),
    Row("GlobalContrastive, tau .1", GLOBAL, partial(dense, temperature=0.1)),
    Row(
        "GlobalContrastive, epsilon",
        GLOBAL,
        partial(dense, temperature=0.3, epsilon=0.2),
        {"temperature": 0.3, "epsilon": 0.2},
    ),
    Row(
        "GlobalContrastive, no memory",
        partial(GlobalContrastive, None),
        partial(dense, temperature=0.5, epsilon=1e-3),
        {"temperature": 0.5, "epsilon": 1e-3},
    ),
    Row(
        "IndividualTemperatures",
        INDIVIDUAL,
        partial(dense, temperature=0.3, rho=0.3),
        {"temperature": 0.3},
    ),
    Row(
        "IndividualTemperatures, epsilon",
        INDIVIDUAL,
        partial(dense, temperature=0.3, epsilon=0.1, rho=0.5),
        {
            "temperature": 0.3,
            "epsilon": 0.1,
            "rho": 0.5,
            "ema_rate": 0.5,
            "step": 0.1,
            "temperature_ema_rate": 0.5,
        },
    ),
    Row(
        "LearnedTemperature",
        LEARNED,
        partial(dense, temperature=0.3, epsilon=0.1, rho=0.5),
        {"temperature": 0.3, "epsilon": 0.1, "rho": 0.5},
    ),
    Row(
        "LearnedTemperature, no memory",
        partial(LearnedTemperature, None),
        partial(dense, temperature=0.3, rho=6.5),
        {"temperature": 0.3},
    ),
    Row("EntropicRisk", ENTROPIC, dense_entropic, {"num_classes": CLASSES}),
    Row(
        "EntropicRisk, mirror",
        ENTROPIC,
        dense_entropic,
        {"num_classes": CLASSES, "log_step": 0.0},
    ),
    Row(
        "EntropicRisk, no memory",
        partial(EntropicRisk, None),
        dense_entropic,
        {"num_classes": CLASSES},
    ),
    Row("InfoNCE", InfoNCE, dense_info_nce, {"temperature": 0.5}),
    Row("NTXent", NTXent, dense_info_nce, {"temperature": 0.5}),
    Row("SupCon", SupCon, dense_sup_con, {"temperature": 0.5}),
]
