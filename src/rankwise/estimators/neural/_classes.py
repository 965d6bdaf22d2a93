"""The loss of a network of more than two classes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from rankwise.estimators._classes import log_odds
from rankwise.estimators.data import Vector
from rankwise.estimators.names import is_log_loss
from rankwise.naming.lookup import objective as named_objective
from rankwise.objectives import ClassObjective, Objective, OneVsRest


class ClassesObjective(nn.Module):
    """An objective by name as a function of logits (rows, classes).

    ``log_loss`` is the cross-entropy of the softmax; an objective of two classes is the mean over
    the classes, each ranked by its log-odds against the rest; one of several classes, such as
    ``mauc``, takes the logits.
    """

    def __init__(self, name: str, shares: Vector, rows: int) -> None:
        super().__init__()
        self.inner: nn.Module | None = None
        if is_log_loss(name):
            return
        facts = {"num_items": rows * len(shares), "num_lists": len(shares)}
        made = named_objective(name, prior=torch.from_numpy(shares), **facts)
        if not isinstance(made, (Objective, ClassObjective)):
            raise ValueError(f"objective {name!r} is not one of scores and targets; use 'ap'")
        self.inner = OneVsRest(made) if isinstance(made, Objective) else made

    def forward(
        self, logits: Tensor, target: Tensor, weight: Tensor | None, item_ids: Tensor
    ) -> Tensor:
        """Return the loss of a batch of rows with known classes."""
        if self.inner is None:
            losses = cross_entropy(logits, target, reduction="none")
            if weight is None:
                return losses.mean()
            return (losses * weight).sum() / weight.sum().clamp(min=1e-12)
        if isinstance(self.inner, ClassObjective):
            found: Tensor = self.inner(logits, target, weight=weight)
        else:
            found = self.inner(log_odds(logits), target, weight=weight, item_ids=item_ids)
        return found
