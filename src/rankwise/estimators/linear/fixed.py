"""Objectives as functions that stay the same while a minimum is searched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from rankwise.estimators.names import entry_of, made, metric_name
from rankwise.lists import Lists
from rankwise.memory import MovingAverage
from rankwise.naming.objectives import signature_of_objective
from rankwise.naming.options import EMPTY
from rankwise.objectives import AveragePrecision, Objective
from rankwise.objectives.ap.formulas import false_positive_rate, saturating, true_positive_rate
from rankwise.objectives.batch import Beside, read_batch

__all__ = ["Loss", "fixed_at", "stateless"]

Loss = Callable[[Tensor], Tensor]


def stateless(name: str, prior: float | None) -> Objective:
    """The objective of a name; one that remembers batches is refused, with one that does not."""
    entry = entry_of(name)
    by_item = signature_of_objective(entry).defaults.get("items") is EMPTY
    if not (by_item or "items" in entry.needs):
        module = made(name, prior=prior)
        memories = any(isinstance(part, MovingAverage) for part in module.modules())
        if not isinstance(module, Objective):
            raise ValueError(f"objective {name!r} is not one of scores and targets; use 'ap'")
        if not memories and not any(p.requires_grad for p in module.parameters()):
            return module
    raise ValueError(
        f"objective {name!r} learns from batch to batch, and here all rows are one batch; "
        f"use {metric_name(name)!r}, which stands for the same metric"
    )


def fixed_at(
    objective: Objective,
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    groups: Tensor | None,
) -> Loss:
    """The objective as a function of the scores alone, which has the gradient that it reports.

    The batch surrogate of average precision has not: its gain and its true positive rates change
    with the scores but carry no gradient, and the gain shrinks where the ranking gets worse. A
    search is misled by that: on mammography it goes from a test AP of .61 to .36, with both kept as
    they are at ``scores`` to .64 (mean of 3 splits). With an automatic scale hand in scores of
    spread 1: a fixed scale lets the ridge hold the size of the weights.
    """
    if not isinstance(objective, AveragePrecision):
        return lambda now: objective(now, target, weight=weight, groups=groups)
    scale = 1.0 if objective.score_scale == "auto" else float(objective.score_scale)
    kept = []
    for part in _parts(scores, target, weight, groups):
        lists = part.at(scores.detach() / scale)
        found = true_positive_rate(objective.true_positives, lists)
        gain = objective.full_gain(lists)
        if objective.correction == "annealed":
            ratio = false_positive_rate(objective.false_positives, lists) / found
            median = weighted_median(ratio, lists.positive_weight)
            gain = torch.where(median > 0, torch.minimum(gain, 1 / median), gain)
        kept.append((part, gain / found))

    def loss(now: Tensor) -> Tensor:
        risks = []
        for part, factor in kept:
            lists = part.at(now / scale)
            errors = factor * false_positive_rate(objective.false_positives, lists)
            risks.append(lists.mean_over_positives(saturating(errors)))
        return torch.cat(risks).mean()

    return loss


@dataclass(frozen=True)
class _Part:
    """Lists without their scores: where in a vector of scores each of their items is."""

    lists: Lists
    positives: Tensor
    negatives: Tensor

    def at(self, scores: Tensor) -> Lists:
        """The lists with these scores; nothing is checked or sorted out again."""
        above, below = (
            scores.index_select(0, rows.flatten()).view_as(rows)
            for rows in (self.positives, self.negatives)
        )
        return replace(self.lists, positives=above, negatives=below)


def _parts(
    scores: Tensor, target: Tensor, weight: Tensor | None, groups: Tensor | None
) -> Iterator[_Part]:
    """The lists by size, taken apart once: the places of the scores stand in for them."""
    places = torch.arange(len(scores), dtype=torch.float64)
    for batch in read_batch(places, target, Beside(None, groups, weight, None, None), None):
        lists = batch.split()
        if len(lists.positives):
            above, below = (
                w.to(scores.dtype) for w in (lists.positive_weight, lists.negative_weight)
            )
            lists = replace(lists, positive_weight=above, negative_weight=below)
            yield _Part(lists, lists.positives.long(), lists.negatives.long())


def weighted_median(values: Tensor, weight: Tensor) -> Tensor:
    """The lower median of every row, (rows, 1): weight 2 is the value twice."""
    ordered, order = values.sort(-1)
    total = weight.gather(-1, order).cumsum(-1)
    place = (total < total[..., -1:] / 2).sum(-1, keepdim=True)
    return ordered.gather(-1, place)
