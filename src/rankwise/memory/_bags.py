"""Instances of bags, in rows or one by one, and means over each bag."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from rankwise.checks import require_same_device, require_tensor, values_are_checked


class Bags(NamedTuple):
    """Which bag an instance is of: its row, or for flat instances ``which``."""

    shape: torch.Size  # of one score for each bag
    ids: Tensor | None  # (bags,)
    which: Tensor | None = None  # the number of its bag for each instance that is present
    mask: Tensor | None = None  # True for instances that are present, of the shape of the input

    def take(self, values: Tensor) -> Tensor:
        """Return the instances: (bags, instances) with 0 for absent ones, or (present,)."""
        if self.which is not None:
            return values.flatten() if self.mask is None else values[self.mask]
        values = values if self.mask is None else values.masked_fill(~self.mask, 0)
        return values.reshape(self.shape.numel(), values.shape[-1])

    def log_mean_exp(self, values: Tensor) -> Tensor:
        """Return log mean e^value over the instances of each bag, (bags,)."""
        if self.which is None:
            size = values.new_full(values.shape[:1], values.shape[1])
            if self.mask is not None:
                size = self.mask.reshape(values.shape).sum(-1).to(values.dtype)
            return torch.logsumexp(self._without_absent(values), -1) - size.log()
        top = values.detach().new_zeros(self.shape.numel())
        top = top.scatter_reduce(0, self.which, values.detach(), "amax", include_self=False)
        total = self._sum((values - top[self.which]).exp(), self.which)
        return (total / self._sum(torch.ones_like(values), self.which)).log() + top

    def mean_by_softmax(self, values: Tensor, logits: Tensor) -> Tensor:
        """Return Σ softmax(logits)·value over the instances of each bag, (bags,)."""
        if self.which is None:
            return (self._without_absent(logits).softmax(-1) * values).sum(-1)
        share = (logits - self.log_mean_exp(logits)[self.which]).exp()
        return self._sum(share * values, self.which) / self._sum(share, self.which)

    def _without_absent(self, values: Tensor) -> Tensor:
        if self.mask is None:
            return values
        return values.masked_fill(~self.mask.reshape(values.shape), -torch.inf)

    def _sum(self, values: Tensor, which: Tensor) -> Tensor:
        return values.new_zeros(self.shape.numel()).index_add(0, which, values)


def arranged(scores: Tensor, bag_ids: Tensor | None, mask: Tensor | None) -> Bags:
    """The bags of the instances; rows are bags unless every instance has the id of its bag."""
    if bag_ids is not None:
        require_tensor("bag_ids", bag_ids)
        require_same_device("bag_ids", bag_ids, "scores", scores)
        if bag_ids.is_floating_point() or bag_ids.dtype == torch.bool:
            raise ValueError(f"bag_ids must be integers, got {bag_ids.dtype}")
        if bag_ids.shape == scores.shape:
            present = bag_ids.flatten() if mask is None else bag_ids[mask]
            ids, which = torch.unique(present, return_inverse=True)
            return Bags(ids.shape, ids, which, mask)
        if bag_ids.shape != scores.shape[:-1]:
            raise ValueError(
                f"bag_ids must have one id per bag, shape {tuple(scores.shape[:-1])}, or one per "
                f"instance, shape {tuple(scores.shape)}, got {tuple(bag_ids.shape)}"
            )
    empty = scores.shape[-1] == 0 and scores.shape[:-1].numel() > 0
    if mask is not None and values_are_checked():
        empty = empty or not bool(mask.any(-1).all())
    if empty:
        raise ValueError(
            "every bag must have an instance, got a row without any; leave such bags out"
        )
    ids = None if bag_ids is None else bag_ids.flatten()
    return Bags(scores.shape[:-1], ids, None, mask)
