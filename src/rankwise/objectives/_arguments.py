"""The checks of an objective's call, all of them before anything is computed."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import (
    require_floating,
    require_mask,
    require_same_device,
    require_same_shape,
    require_tensor,
    require_values,
    warn_caller,
)
from rankwise.objectives._batch import Batch, MemoryBy

Reduction = Literal["mean", "sum", "none"]
"""How the risks of the lists become the value of a call, as in torch."""


def check_tensors(given: dict[str, Tensor], memory_by: MemoryBy) -> None:
    """Raise on types, devices and shapes; a check is called only where it will raise."""
    scores, list_ids = given["scores"], given.get("list_ids")
    for name, value in given.items():
        if not isinstance(value, Tensor):
            require_tensor(name, value)
        elif value.device != scores.device:
            require_same_device(name, value, "scores", scores)
        require_values(name, value)
    for name in ("scores", "previous_scores"):
        if name in given and not given[name].is_floating_point():
            require_floating(name, given[name])
    groups, mask = given.get("groups"), given.get("mask")
    if mask is not None and mask.dtype != torch.bool:
        require_mask("mask", mask)
    if groups is not None and (groups.is_floating_point() or groups.dtype == torch.bool):
        raise ValueError(f"groups must hold integers, got {groups.dtype}; pass groups.long()")
    if scores.dim() == 0:
        raise ValueError("scores must have at least one dimension, the list, got one number")
    for name, value in given.items():
        unused = name == "list_ids" or (name == "item_ids" and memory_by != "item")
        if not unused and value.shape != scores.shape:
            require_same_shape(name, value, "scores", scores)
    if groups is not None and scores.dim() != 1:
        raise ValueError(f"groups is for one-dimensional scores, got shape {tuple(scores.shape)}")
    by_list = list_ids if memory_by == "list" and groups is None else None
    if by_list is not None and by_list.shape != scores.shape[:-1]:
        raise ValueError(
            f"list_ids must have one id per list, shape {tuple(scores.shape[:-1])}, "
            f"got {tuple(by_list.shape)}"
        )


def warn_of_one_class(name: str, batches: list[Batch], *, graded: bool) -> None:
    """Warn that no list of a batch has both classes, or two relevances, with its counts."""
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
