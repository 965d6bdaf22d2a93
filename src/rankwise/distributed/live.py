"""What processes exchange while each takes the risk of its own lists."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from rankwise.metrics.gather import gather_rows

__all__ = ["LiveExchange"]


class LiveExchange:
    """The :class:`~rankwise.objectives.base.Exchange` of the running process group.

    Only what the memory learns travels, a few numbers for each list, never the scores.
    """

    def rows(self, ids: Tensor, values: Tensor) -> tuple[Tensor, Tensor, slice]:
        """Return ids and values of all processes, by rank, and where this process's own are."""
        lengths = gather_rows(torch.tensor([len(ids)], device=ids.device)).tolist()
        rank, width = dist.get_rank(), values.shape[1]
        start = sum(lengths[:rank])
        # Processes may hold scores of different precision; float64 holds them all exactly.
        everything = gather_rows(values.detach().double().flatten()).reshape(-1, width)
        return gather_rows(ids), everything, slice(start, start + lengths[rank])

    def total(self, value: Tensor) -> Tensor:
        """Return the sum over all processes, without a gradient."""
        result = value.detach().clone()
        dist.all_reduce(result)
        return result

    def sum(self, value: Tensor) -> Tensor:
        """Return the sum over all processes in double precision, with a gradient.

        A process only has the gradient of its own lists; times the number of processes, so that
        averaging over them (DistributedDataParallel) gives the gradient of the sum.
        """
        own = value.double() * dist.get_world_size()
        return own - own.detach() + self.total(value.double())
