"""The rows of all processes on every process, with a graph through this process's own."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from rankwise.distributed.joining import concatenate
from rankwise.distributed.parcel import Parcel, exchange
from rankwise.eager import eager_only
from rankwise.metrics.gather import is_distributed

__all__ = ["gather_with_gradient", "with_graph"]


def gather_with_gradient(tensor: Tensor, *, shared: bool = False) -> Tensor:
    """The rows of all processes, by rank, as if one process had made them all.

    For what meets across processes before it is ranked, such as the embeddings of a batch: give
    all of them, and their gathered labels, to ``embedding_scores`` and the result to an objective
    without :class:`AcrossProcesses`. Each process's own rows get their gradient times the number
    of processes, which is right where all processes compute the same loss from the rows and
    average the gradients of their parameters (DistributedDataParallel).

    With ``shared`` the processes share the loss out: each compares anchors of its own with all the
    rows, under :class:`AcrossProcesses`, and what a row is to the anchors of other processes comes
    back from there: all of them have to run the backward pass.
    """
    if not is_distributed():
        return tensor
    parcels = exchange(Parcel({}, {"tensor": tensor}), tensor.device)
    parts = [parcel.columns["tensor"] for parcel in parcels]
    filled = {rank: part for rank, part in enumerate(parts) if part.numel()}
    if not filled:
        return tensor
    return with_graph(tensor, concatenate("tensor", filled), parts, shared=shared)


def with_graph(
    own: Tensor, everything: Tensor, parts: list[Tensor], *, shared: bool = False
) -> Tensor:
    """``everything`` as a function of ``own``; ``parts`` are what all processes, by rank, sent.

    ``everything`` is the parts with anything in them below each other, padded on the right.
    """
    rank = dist.get_rank()
    mine = parts[rank]
    start = sum(len(part) for part in parts[:rank] if part.numel())
    place = slice(start, start + len(mine)), *(slice(0, size) for size in mine.shape[1:])
    if not mine.numel():
        place = (slice(0, 0),)
    joined: Tensor = _Joined.apply(own, everything, place, 0 if shared else len(parts))  # type: ignore[no-untyped-call]
    return joined


class _Joined(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, own: Tensor, everything: Tensor, place: tuple[slice, ...], times: int
    ) -> Tensor:
        ctx.shape, ctx.dtype, ctx.place, ctx.times = own.shape, own.dtype, place, times
        return everything

    @staticmethod
    @eager_only
    def backward(ctx: Any, arriving: Tensor) -> Any:
        if not ctx.times:  # every process has a part of the loss, and with it of the gradient
            arriving = arriving.contiguous()
            dist.all_reduce(arriving)
            own = arriving[ctx.place].reshape(ctx.shape)
        else:  # all processes have the same loss: no part of the gradient is elsewhere
            own = arriving[ctx.place].reshape(ctx.shape) * ctx.times
        return own.to(ctx.dtype), None, None, None
