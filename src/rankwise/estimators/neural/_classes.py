"""The loss of a network of more than two classes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from rankwise.estimators._classes import log_odds
from rankwise.estimators.data import Vector
from rankwise.estimators.names import entry_of, is_log_loss
from rankwise.naming.lookup import objective as named_objective
from rankwise.naming.lookup import signature_of_objective
from rankwise.naming.signatures import EMPTY
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
        entry = entry_of(name)
        needs_prior = signature_of_objective(entry).defaults.get("prior") is EMPTY
        if needs_prior and "num_lists" not in entry.facts:
            # One prior at a time: every class has an objective of its own.
            each = [named_objective(name, prior=float(p), num_items=rows) for p in shares]
            self.inner = nn.ModuleList(each)
            return
        # Batches have about the shares of the data: a prior is needed by a memory alone.
        prior = torch.from_numpy(shares) if "num_lists" in entry.facts else None
        facts = {"num_items": rows * len(shares), "num_lists": len(shares)}
        made = named_objective(name, prior=prior, **facts)
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
            return found
        odds, given = log_odds(logits), {"weight": weight, "item_ids": item_ids}
        if isinstance(self.inner, nn.ModuleList):
            pairs = enumerate(zip(self.inner, odds.T, strict=True))
            there = [(own, s, target == c) for c, (own, s) in pairs if bool((target == c).any())]
            return torch.stack([own(s, hot, **given) for own, s, hot in there]).mean()
        mean: Tensor = self.inner(odds, target, **given)
        return mean
