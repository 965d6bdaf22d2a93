"""Sums over pairs that all processes compute together, each a share of the larger side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from rankwise.eager import Context, Function, eager_backward
from rankwise.metrics.gather import gather_equal
from rankwise.pairs.rows import Combine, OfRows, Rows, accumulating, share_rows

_WORTH_A_MESSAGE = 1 << 16  # scores of both sides; fewer are summed before a message arrives


@contextmanager
def shared_pairs() -> Iterator[None]:
    """Compute long sums over pairs together; every process has to have the same pairs.

    All processes make the same calls, forward and backward. Each sums a part of the lists, or of
    the longer side of few lists, and one ``all_gather`` gives all of them the whole result.
    """
    before = share_rows.set(_share)
    try:
        yield
    finally:
        share_rows.reset(before)


def _share(of_rows: OfRows, combine: Combine, rows: Rows) -> Tensor:
    if rows.upper.numel() + rows.lower.numel() < _WORTH_A_MESSAGE or not rows.lower.numel():
        return of_rows(rows)
    return _SharedSum.apply(of_rows, combine, rows.upper, rows.lower, rows.weight)


@dataclass(frozen=True)
class _Cut:
    """What this process works on: a slice of one dimension of uppers, lowers and weights.

    ``dims`` has the dimension that is cut; None for a side that every process has whole.
    """

    dims: tuple[int | None, int | None, int | None]
    ends: tuple[int, ...]  # where the slice of every process starts, and where the last one ends

    @staticmethod
    def of(upper: Tensor, lower: Tensor) -> _Cut:
        """Cut the lists; where these are few, the longer side."""
        world = dist.get_world_size()
        dims: tuple[int | None, int | None, int | None] = (0, 0, 0)
        size = len(upper)
        if size < world:
            longer = upper.shape[1] >= lower.shape[1]
            dims = (1, None, None) if longer else (None, 1, 1)
            size = max(upper.shape[1], lower.shape[1])
        return _Cut(dims, tuple(size * rank // world for rank in range(world + 1)))

    def own(self, tensor: Tensor, dim: int | None) -> Tensor:
        """Return the slice of this process."""
        if dim is None:
            return tensor
        start, stop = self.ends[dist.get_rank() :][:2]
        return tensor.narrow(dim, start, stop - start)

    def padded(self, own: Tensor, dim: int | None) -> Tensor:
        """Return a slice as long as the longest one, flat: a message has one length."""
        if dim is None:
            return own.flatten()
        missing = self._longest - own.shape[dim]
        shape = [*own.shape[:dim], missing, *own.shape[dim + 1 :]]
        return torch.cat([own, own.new_zeros(shape)], dim).flatten() if missing else own.flatten()

    def joined(
        self, parts: list[Tensor], dim: int | None, like: Tensor, add_up: Callable[..., Tensor]
    ) -> Tensor:
        """Return what the padded slices of all processes make up, of the shape of ``like``."""
        if dim is None:
            return add_up(parts).reshape(like.shape)
        shape = [*like.shape[:dim], self._longest, *like.shape[dim + 1 :]]
        sizes = [stop - start for start, stop in zip(self.ends, self.ends[1:], strict=False)]
        slices = [p.reshape(shape).narrow(dim, 0, n) for p, n in zip(parts, sizes, strict=True)]
        return torch.cat(slices, dim)

    @property
    def _longest(self) -> int:
        return max(stop - start for start, stop in zip(self.ends, self.ends[1:], strict=False))


_Kept = tuple[_Cut, list[Tensor | None], Tensor, Tensor | None]


class _SharedSum(Function):
    """A function of rows, of which each process computes a part."""

    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Context[_Kept],
        of_rows: OfRows,
        combine: Combine,
        upper: Tensor,
        lower: Tensor,
        weight: Tensor | None,
    ) -> Tensor:
        cut = _Cut.of(upper, lower)
        inputs: Any = [
            None if tensor is None else cut.own(tensor, dim).detach().requires_grad_(wanted)
            for tensor, dim, wanted in zip(
                (upper, lower, weight), cut.dims, ctx.needs_input_grad[2:], strict=True
            )
        ]
        whole = share_rows.set(None)  # a sum inside of the function is of this share alone
        try:
            with torch.set_grad_enabled(any(ctx.needs_input_grad)):
                own = of_rows(Rows(*inputs))
        finally:
            share_rows.reset(whole)
        # A side that is whole everywhere has a value on every process, and these are combined.
        summed = cut.dims[0] is None
        dtype = torch.promote_types(upper.dtype, torch.float32)
        sent = accumulating(own.detach()) if summed else own.detach().to(dtype)
        parts = gather_equal(cut.padded(sent, cut.dims[0]))
        total = cut.joined(parts, cut.dims[0], upper, _in_order if combine == "sum" else _in_logs)
        share = (sent - total).exp() if summed and combine == "logsumexp" else None
        if share is not None:
            share = share.nan_to_num(0)  # of lists without any weight
        ctx.kept = cut, inputs, own, share
        ctx.save_for_backward(upper, lower, weight)
        return total.to(dtype)

    @staticmethod
    @eager_backward
    def backward(ctx: Context[_Kept], *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (cut, inputs, own, share) = gradients, ctx.kept
        arriving = cut.own(gradient, cut.dims[0])
        if share is not None:
            arriving = arriving * share
        wanted = [place for place, needed in enumerate(ctx.needs_input_grad[2:]) if needed]
        found = torch.autograd.grad(
            own,
            [given for place in wanted if (given := inputs[place]) is not None],
            arriving.to(own.dtype),
            retain_graph=True,
            materialize_grads=True,
        )
        dtype = reduce(torch.promote_types, (part.dtype for part in found))
        padded = [
            cut.padded(part.to(dtype), cut.dims[place])
            for part, place in zip(found, wanted, strict=True)
        ]
        sizes = [len(part) for part in padded]
        received = [row.split(sizes) for row in gather_equal(torch.cat(padded))]
        results: list[Tensor | None] = [None, None, None]
        for number, place in enumerate(wanted):
            like = ctx.saved_tensors[place]
            parts = [row[number] for row in received]
            results[place] = cut.joined(parts, cut.dims[place], like, _in_order).to(like.dtype)
        return None, None, *results


def _in_order(parts: list[Tensor]) -> Tensor:
    """Add by rank, so that all processes have the same bits."""
    return reduce(torch.add, parts)


def _in_logs(parts: list[Tensor]) -> Tensor:
    return torch.logsumexp(torch.stack(parts), 0)
