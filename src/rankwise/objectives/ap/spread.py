"""The spread of the scores of a batch, and losses that do not depend on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from rankwise.objectives.batch import Batch
from rankwise.pairs.rows import accumulating

__all__ = ["total_variance", "with_own_spread"]

_BLOCK = 1 << 22  # items looked at at once


@torch.no_grad()
def total_variance(batches: list[Batch]) -> tuple[Tensor, Tensor]:
    """Σ over the lists of the variance of their scores, and the number of lists."""
    total = accumulating(torch.zeros((), device=batches[0].scores.device))
    count = torch.zeros((), dtype=torch.long, device=total.device)
    for batch in batches:
        for _, apart, share in _centred(batch):
            total += (share * apart**2).sum()
            count += (share.sum(-1) > 0).sum()
    return total, count


def with_own_spread(batches: list[Batch], add_up: Callable[[Tensor], Tensor]) -> list[Batch]:
    """The same batches for a loss that divides their scores by their spread.

    L(s/σ(s)) has the gradient g − (Σ g·s)·∇σ/σ, where g is that with σ held fixed. Without the
    second part, which is added here, the gradient of a loss that does not depend on the size of
    the scores has a component along them, and shrinks a model to nothing. ``add_up`` adds a number
    over all processes.
    """
    scores = [batch.scores for batch in batches]
    same = _OwnSpread.apply(batches, add_up, *scores)  # type: ignore[no-untyped-call]
    return [replace(batch, scores=s) for batch, s in zip(batches, same, strict=True)]


def _centred(batch: Batch) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Blocks of rows: scores less the mean of their list, and each item's share of its list."""
    for rows in batch.blocks(_BLOCK):
        part = batch.rows(rows)
        scores = accumulating(part.scores.detach())
        weight = torch.ones_like(scores) if part.weight is None else accumulating(part.weight)
        if part.mask is not None:
            scores, weight = (t.masked_fill(~part.mask, 0) for t in (scores, weight))
        share = weight / weight.sum(-1, keepdim=True).clamp_min(1e-30)
        yield rows, scores - (share * scores).sum(-1, keepdim=True), share


class _OwnSpread(torch.autograd.Function):
    @staticmethod
    def forward(ctx, batches: list[Batch], add_up: Callable[[Tensor], Tensor], *scores: Tensor):  # type: ignore[no-untyped-def]
        ctx.batches, ctx.add_up = [b.each(Tensor.detach) for b in batches], add_up
        return tuple(s.view_as(s) for s in scores)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *arriving: Tensor):  # type: ignore[no-untyped-def]
        variance, along = accumulating(torch.zeros(2, device=arriving[0].device))
        for batch, gradient in zip(ctx.batches, arriving, strict=True):
            for rows, apart, share in _centred(batch):
                variance += (share * apart**2).sum()
                along += (accumulating(gradient[rows]) * apart).sum()
        variance, along = ctx.add_up(variance), ctx.add_up(along)
        if not bool(variance > 0):
            return None, None, *arriving
        pull = along / variance
        results = []
        for batch, gradient in zip(ctx.batches, arriving, strict=True):
            result = gradient.clone()
            for rows, apart, share in _centred(batch):
                result[rows] -= (pull * share * apart).to(result.dtype)
            results.append(result)
        return None, None, *results
