"""The losses the study compares, each on the scale of its setting and with the printed gain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from torch import Tensor

from rankwise.baselines import CrossEntropy, SmoothAP
from rankwise.objectives import SOPRC, AveragePrecision, Objective, StableAP
from rankwise.pairs import OneSidedHuber
from rankwise.theory import Loss

RATE = 0.5  # positives in the lists of the bounded differences
TAU = 0.25  # width of the Huber surrogate on scores in [−1, 1]

LISTS: Mapping[str, Callable[[], Loss]] = MappingProxyType(
    {
        "StableAP": lambda: StableAP(
            RATE, tau=TAU, width=2.0, dynamic=False, gain="fixed", score_scale=1.0
        ),
        "SOPRC": lambda: SOPRC(RATE, tau_fpr=TAU, gain="fixed", score_scale=1.0),
        "plain AP": lambda: AveragePrecision(
            None, false_positives=OneSidedHuber(TAU), gain="fixed", score_scale=1.0
        ),
        "SmoothAP": lambda: SmoothAP(0.01),
        "cross-entropy": CrossEntropy,
    }
)
"""For one list of scores in [−1, 1]."""


def _remembering(objective: Objective, models: int) -> Loss:
    list_ids = torch.arange(models)

    def loss(scores: Tensor, target: Tensor) -> Tensor:
        value: Tensor = objective(scores, target, list_ids=list_ids)
        return value

    return loss


def models(prior: float) -> dict[str, Callable[[int], Loss]]:
    """For the scores of linear models, several side by side; ``prior`` is the data set's."""
    return {
        "StableAP": lambda n: _remembering(
            StableAP(prior, n, tau=1.0, width=6.0, gain="fixed", score_scale=1.0), n
        ),
        "SOPRC": lambda n: _remembering(
            SOPRC(prior, n, tau_fpr=1.0, gain="fixed", score_scale=1.0), n
        ),
        "plain AP": lambda n: AveragePrecision(
            None, false_positives=OneSidedHuber(1.0), gain="fixed", score_scale=1.0
        ),
        "SmoothAP": lambda n: SmoothAP(0.1),
        "cross-entropy": lambda n: CrossEntropy(),
    }
