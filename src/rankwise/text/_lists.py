"""The call of an objective that both losses share."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from rankwise.distributed import AcrossProcesses
from rankwise.objectives import Objective


def require_objective(objective: object) -> None:
    """Raise unless the objective is one of lists that gives one number."""
    if not isinstance(objective, Objective):
        raise ValueError(
            f"objective must be an Objective, got {type(objective).__name__}; "
            'rankwise.objective("ap") makes one of a name'
        )
    if objective.reduction != "mean":
        raise ValueError(
            f'objective must have reduction="mean", got {objective.reduction!r}; the trainer '
            "takes one number"
        )


def ranked(
    objective: AcrossProcesses, scores: Tensor, grades: Tensor, **arguments: Tensor
) -> Tensor:
    """Return the objective of lists of at least two items, by grade or by relevance."""
    missing = max(0, 2 - scores.shape[1])
    if missing:  # one document alone: nothing to rank, which is 0 rather than an error
        shown = torch.ones_like(scores, dtype=torch.bool)
        arguments["mask"] = pad(arguments.get("mask", shown), (0, missing))
        if "item_ids" in arguments:
            arguments["item_ids"] = pad(arguments["item_ids"], (0, missing))
        scores, grades = pad(scores, (0, missing)), pad(grades, (0, missing))
    assert isinstance(objective.objective, Objective)
    target = grades if objective.objective.graded else grades > 0
    loss: Tensor = objective(scores, target, **arguments)
    return loss
