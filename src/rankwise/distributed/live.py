"""What processes tell each other while each takes the risk of its own lists."""

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

    def rows(self, index: Tensor, values: Tensor) -> tuple[Tensor, Tensor, slice]:
        """Ids and their values of all processes, by rank, and where this process's own are."""
        lengths = gather_rows(torch.tensor([len(index)], device=index.device)).tolist()
        rank, width = dist.get_rank(), values.shape[1]
        start = sum(lengths[:rank])
        # Processes may hold scores of different precision; float64 holds them all exactly.
        everything = gather_rows(values.detach().double().flatten()).reshape(-1, width)
        return gather_rows(index), everything, slice(start, start + lengths[rank])

    def total(self, value: Tensor) -> Tensor:
        """The sum over all processes."""
        result = value.detach().clone()
        dist.all_reduce(result)
        return result

    def mean(self, total: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Σ total / Σ count over all processes, and Σ count.

        A process only has the gradient of its own lists; times the number of processes, so that
        averaging over them (DistributedDataParallel) gives the gradient of the mean.
        """
        everyone = self.total(torch.tensor(count, device=total.device))
        divisor = everyone.clamp_min(1)
        own = total.double() / divisor * dist.get_world_size()
        value = self.total(total.double()) / divisor
        return (own - own.detach() + value).to(total.dtype), everyone
