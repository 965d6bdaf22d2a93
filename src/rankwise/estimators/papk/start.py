"""Where a descent begins: nowhere, or at the logistic solution."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits

from rankwise.estimators.linear.design import Design
from rankwise.estimators.linear.search import search
from rankwise.estimators.papk.users import Users

__all__ = ["logistic_start"]

Array = NDArray[np.float64]


def logistic_start(
    design: Design, users: Users, *, alpha: float, unit: bool
) -> tuple[Array, float]:
    """Weights and intercept of a logistic regression on all rows, with the ridge α/2 · ‖w‖².

    ``unit`` divides both so that the scores have spread 1, where the margin of a hinge is.
    """
    kind = torch.from_numpy(np.zeros(0, dtype=design.matrix.dtype)).dtype
    target = users.target.to(kind)
    weight = None if users.weight is None else users.weight.to(kind)
    total = float(len(target)) if weight is None else float(weight.sum())

    def mean_log_loss(scores: torch.Tensor) -> torch.Tensor:
        losses = binary_cross_entropy_with_logits(scores, target, weight, reduction="none")
        return losses.sum(dtype=torch.float64) / total

    nothing = np.zeros(design.columns)
    found, _ = search(
        design,
        mean_log_loss,
        np.append(nothing, 0.0),
        ridge=alpha,
        about=nothing,
        max_iter=200,
        tolerance=1e-6,
    )
    if unit:
        found = found / users.spread(design.scores(found[:-1]))
    return found[:-1], float(found[-1])
