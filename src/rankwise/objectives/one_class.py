"""The warning of a batch in which there is nothing to rank."""

from __future__ import annotations

import torch

from rankwise.checks import warn_caller
from rankwise.objectives.batch import Batch

__all__ = ["warn_of_one_class"]


def warn_of_one_class(name: str, batches: list[Batch], *, graded: bool) -> None:
    """Warn that no list of a batch has both classes, or two relevances, and say what it has."""
    lists = positives = negatives = 0
    for batch in batches:
        present = torch.ones_like(batch.target, dtype=torch.bool)
        if batch.mask is not None:
            present &= batch.mask
        if batch.weight is not None:
            present &= batch.weight > 0
        positive = (batch.target > 0) & present
        lists += int(present.any(-1).sum())
        positives += int(positive.sum())
        negatives += int((present & ~positive).sum())
    what = "items of two relevances" if graded else "both classes"
    kinds = ("relevant item", "other item") if graded else ("positive", "negative")
    counts = (_counted(lists, "list"), _counted(positives, kinds[0]), _counted(negatives, kinds[1]))
    remedy = (
        "leave out lists without a relevant item"
        if graded
        else "use a sampler that puts both classes into every batch, such as "
        "rankwise.samplers.BalancedBatches"
    )
    warn_caller(
        f"{name}: no list of this batch has {what} ({', '.join(counts)}), so that the loss is 0 "
        f"and has no gradient; {remedy} (reported once per objective)"
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
