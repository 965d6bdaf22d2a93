"""The losses of the study, for scores in [−1, 1], with the metric of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypedDict

import torch
from torch import Tensor

from rankwise.baselines import SmoothAP
from rankwise.metrics import auroc, average_precision, pap_at_k
from rankwise.objectives import SOPRC, AveragePrecision, Objective, PairwiseAUC, PApAtK, StableAP
from rankwise.pairs import OneSidedHuber

PRIOR = 0.2  # π of SOPRC and StableAP, whatever the share of the sample
TAU = 0.5  # width of the one-sided Huber loss of SOPRC, StableAP, plain AP and AUC
EPSILON = 0.1  # ε of StableAP
SMOOTH_TAU = 0.1  # τ of SmoothAP
RATE = 0.1  # γ⁻ = k/n⁻ of pAp@k

Metric = Literal["AP", "AUC", "pAp@k"]

METRICS: Mapping[str, Metric] = {
    "SOPRC": "AP",
    "StableAP": "AP",
    "plain AP": "AP",
    "SmoothAP": "AP",
    "AUC": "AUC",
    "pAp@k avg": "pAp@k",
    "pAp@k ramp": "pAp@k",
    "pAp@k max": "pAp@k",
    "pAp@k TS": "pAp@k",
}
"""The metric of each loss, by the name of the loss."""

_FORMS: Mapping[str, Literal["avg", "ramp", "max", "ts"]] = {
    "pAp@k avg": "avg",
    "pAp@k ramp": "ramp",
    "pAp@k max": "max",
    "pAp@k TS": "ts",
}


class _Fixed(TypedDict):
    gain: Literal["fixed"]
    score_scale: float
    reduction: Literal["none"]


AP_LOSSES = [name for name, metric in METRICS.items() if metric == "AP"]


def top_of(n_negatives: int) -> int:
    """Return k of pAp@k for a number of negatives."""
    return max(1, round(RATE * n_negatives))


def make_loss(name: str, lists: int, k: int, ema_rate: float = 1.0) -> Objective:
    """Make a loss of ``lists`` rows, each with its own memory, and one value per row.

    With ``ema_rate=1`` SOPRC and StableAP have no past: v and μ̂ are those of the row itself.
    """
    if name not in METRICS:
        raise ValueError(f"name must be one of {', '.join(METRICS)}, got {name!r}")
    fixed: _Fixed = {"gain": "fixed", "score_scale": 1.0, "reduction": "none"}
    huber = OneSidedHuber(TAU)
    makers: dict[str, Callable[[], Objective]] = {
        "SOPRC": lambda: SOPRC(
            PRIOR, lists, ema_rate=ema_rate, tau_fpr=TAU, score_range=(-1.0, 1.0), **fixed
        ),
        "StableAP": lambda: StableAP(
            PRIOR, lists, ema_rate=ema_rate, tau=TAU, width=2.0, epsilon=EPSILON, **fixed
        ),
        "plain AP": lambda: AveragePrecision(None, false_positives=huber, **fixed),
        "SmoothAP": lambda: SmoothAP(SMOOTH_TAU, reduction="none"),
        "AUC": lambda: PairwiseAUC(huber, reduction="none"),
    }
    if name in makers:
        return makers[name]()
    return PApAtK(k, _FORMS[name], score_scale=1.0, reduction="none")


def risks(loss: Objective, scores: Tensor, n_positives: int) -> Tensor:
    """Return the loss of every row of scores (rows, items), positives first."""
    target = (torch.arange(scores.shape[-1]) < n_positives).expand_as(scores)
    values: Tensor = loss(scores, target, list_ids=torch.arange(len(scores)))
    return values


def metric_risks(metric: Metric, scores: Tensor, n_positives: int, k: int) -> Tensor:
    """Return one less the metric of every row; ties count against the ranking."""
    target = (torch.arange(scores.shape[-1]) < n_positives).expand_as(scores)
    functions: dict[Metric, Callable[[], Tensor]] = {
        "AP": lambda: average_precision(scores, target, ties="against", average="none"),
        "AUC": lambda: auroc(scores, target, ties="against", average="none"),
        "pAp@k": lambda: pap_at_k(scores, target, k=k, ties="against", average="none"),
    }
    return 1 - functions[metric]()
