"""The spread of the scores of a batch, and losses that do not depend on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from rankwise.eager import eager_only
from rankwise.objectives.batch import Batch
from rankwise.pairs.rows import accumulating

__all__ = ["AddUp", "Measured", "measured", "with_own_spread"]

_BLOCK = 1 << 22  # items looked at at once

AddUp = Callable[[Tensor], Tensor]
"""Adds a number over all processes."""


@dataclass(frozen=True)
class Measured:
    """The lists of a call, looked at once; variance and count are those of all processes."""

    variance: Tensor  # Σ over the lists of the variance of their scores
    lists: Tensor  # how many of them have items
    means: list[Tensor]  # of the lists of every batch, (lists, 1)


@torch.no_grad()
def measured(batches: list[Batch], add_up: AddUp) -> Measured:
    """Mean and variance of the scores of every list, by weight, without what is masked."""
    variance = accumulating(torch.zeros((), device=batches[0].scores.device))
    count = torch.zeros((), dtype=torch.long, device=variance.device)
    means = []
    for batch in batches:
        found = [accumulating(batch.scores.new_zeros(0, 1))]
        for rows in batch.blocks(_BLOCK):
            scores, share = _parts(batch.rows(rows))
            if share is None:
                mean = scores.mean(-1, keepdim=True)
                variance += _dot(*[scores - mean] * 2) / max(1, scores.shape[1])
                count += len(scores) if scores.shape[1] else 0
            else:
                mean = (share * scores).sum(-1, keepdim=True)
                variance += _dot(share, (scores - mean) ** 2)
                count += (share.sum(-1) > 0).sum()
            found.append(mean)
        means.append(torch.cat(found))
    return Measured(add_up(variance), add_up(count), means)


def with_own_spread(batches: list[Batch], spread: Measured, add_up: AddUp) -> list[Batch]:
    """The same batches for a loss that divides their scores by their spread.

    L(s/σ(s)) has the gradient g − (Σ g·s)·∇σ/σ, where g is that with σ held fixed. Without the
    second part, which is added here, the gradient of a loss that does not depend on the size of
    the scores has a component along them, and shrinks a model to nothing. The same part makes up
    for a σ that follows the batches: L(c·s/σ(s)) with c the ratio of the two, taken as given.
    """
    scores = [batch.scores for batch in batches]
    same = _OwnSpread.apply(batches, spread, add_up, *scores)  # type: ignore[no-untyped-call]
    return [replace(batch, scores=s) for batch, s in zip(batches, same, strict=True)]


def _parts(batch: Batch) -> tuple[Tensor, Tensor | None]:
    """Scores, 0 where masked, and each item's share of its list; None: all have the same."""
    scores = accumulating(batch.scores.detach())
    if batch.weight is None and batch.mask is None:
        return scores, None
    weight = torch.ones_like(scores) if batch.weight is None else accumulating(batch.weight)
    if batch.mask is not None:
        scores, weight = (t.masked_fill(~batch.mask, 0) for t in (scores, weight))
    return scores, weight / weight.sum(-1, keepdim=True).clamp_min(1e-30)


def _apart(batch: Batch, means: Tensor) -> Iterator[tuple[slice, Tensor, Tensor | None]]:
    """Blocks of rows: scores less the mean of their list, and each item's share of its list."""
    for rows in batch.blocks(_BLOCK):
        scores, share = _parts(batch.rows(rows))
        yield rows, scores - means[rows], share


def _dot(a: Tensor, b: Tensor) -> Tensor:
    total: Tensor = torch.linalg.vecdot(a, b).sum()
    return total


class _OwnSpread(torch.autograd.Function):
    @staticmethod
    def forward(ctx, batches: list[Batch], spread: Measured, add_up: AddUp, *scores: Tensor):  # type: ignore[no-untyped-def]
        ctx.batches = [b.each(Tensor.detach) for b in batches]
        ctx.spread, ctx.add_up = spread, add_up
        return tuple(s.view_as(s) for s in scores)

    @staticmethod
    @eager_only
    @torch.autograd.function.once_differentiable
    def backward(ctx, *arriving: Tensor):  # type: ignore[no-untyped-def]
        lists = list(zip(ctx.batches, ctx.spread.means, arriving, strict=True))
        along = torch.zeros_like(ctx.spread.variance)
        for batch, means, gradient in lists:
            for rows, apart, _ in _apart(batch, means):
                along += _dot(accumulating(gradient[rows]), apart)
        along = ctx.add_up(along)
        if not bool(ctx.spread.variance > 0):
            return None, None, None, *arriving
        pull = along / ctx.spread.variance
        results = []
        for batch, means, gradient in lists:
            result = torch.empty_like(gradient)
            for rows, apart, share in _apart(batch, means):
                part = pull / apart.shape[1] if share is None else pull * share
                torch.sub(gradient[rows], apart.mul_(part).to(result.dtype), out=result[rows])
            results.append(result)
        return None, None, None, *results
