"""Instances of bags, arranged one by one, and sums over each bag."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from rankwise.checks import require_same_device, require_tensor, values_are_checked


class Bags(NamedTuple):
    """Instances one by one, each with the number of its bag."""

    keep: Tensor | slice  # which instances are present, of the flattened input
    which: Tensor  # (instances,)
    ids: Tensor | None  # (bags,)
    shape: torch.Size  # of the result

    @property
    def count(self) -> int:
        return self.shape.numel()


def arranged(scores: Tensor, bag_ids: Tensor | None, mask: Tensor | None) -> Bags:
    """The bag of every instance that is present; rows are bags unless there is an id for each."""
    keep: Tensor | slice = slice(None) if mask is None else mask.flatten()
    if bag_ids is not None:
        require_tensor("bag_ids", bag_ids)
        require_same_device("bag_ids", bag_ids, "scores", scores)
        if bag_ids.is_floating_point() or bag_ids.dtype == torch.bool:
            raise ValueError(f"bag_ids must be integers, got {bag_ids.dtype}")
    if bag_ids is not None and bag_ids.shape == scores.shape:
        ids, which = torch.unique(bag_ids.flatten()[keep], return_inverse=True)
        return Bags(keep, which, ids, ids.shape)
    if bag_ids is not None and bag_ids.shape != scores.shape[:-1]:
        raise ValueError(
            f"bag_ids must have one id per bag, shape {tuple(scores.shape[:-1])}, or one per "
            f"instance, shape {tuple(scores.shape)}, got {tuple(bag_ids.shape)}"
        )
    shape = scores.shape[:-1]
    rows = torch.arange(shape.numel(), device=scores.device).repeat_interleave(scores.shape[-1])
    which = rows[keep]
    if values_are_checked() and len(torch.unique(which)) < shape.numel():
        raise ValueError(
            "every bag must have an instance, got a row without any; leave such bags out"
        )
    return Bags(keep, which, None if bag_ids is None else bag_ids.flatten(), shape)


def log_mean_exp(values: Tensor, bags: Bags) -> Tensor:
    """log mean e^value over the instances of each bag, (bags,)."""
    which = bags.which
    top = values.detach().new_zeros(bags.count)
    top = top.scatter_reduce(0, which, values.detach(), "amax", include_self=False)
    total = sum_by_bag((values - top[which]).exp(), bags)
    return (total / sum_by_bag(torch.ones_like(values), bags)).log() + top


def sum_by_bag(values: Tensor, bags: Bags) -> Tensor:
    """Sum of the values of the instances of each bag, (bags,)."""
    return values.new_zeros(bags.count).index_add(0, bags.which, values)
