"""Losses whose unit may be the spread of the scores of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import require_positive
from rankwise.eager import eager_only
from rankwise.memory import MovingAverage
from rankwise.objectives._arguments import Reduction
from rankwise.objectives._batch import Batch
from rankwise.objectives.base import Objective
from rankwise.pairs.rows import accumulating

ScoreScale = float | Literal["auto"]
"""What scores are divided by: a number, or their spread."""

_EMA_RATE = 0.1  # of the running spread
_BLOCK_ITEMS = 1 << 22  # items of one pass

AddUp = Callable[[Tensor], Tensor]
"""Adds numbers over all processes."""


class ScaledObjective(Objective):
    """A loss of scores divided by ``score_scale``, a number or ``"auto"``, their own spread.

    With ``"auto"`` every margin and temperature is in units of the spread: the root of the mean
    variance of the lists of a batch. With ``running`` it is smoothed over the batches and lives in
    the buffer ``spread``; without, it is that of the batch, and the loss does not depend on the
    size of the scores at all. Either way its gradient has no part along the scores: were the spread
    taken as given, smaller scores would cost less, the spread would follow them, and all scores, or
    all embeddings, would draw together.
    """

    def __init__(
        self, score_scale: ScoreScale, *, running: bool = False, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        if score_scale != "auto":
            require_positive("score_scale", score_scale)
        self.score_scale = score_scale
        self.spread = MovingAverage(1, ema_rate=_EMA_RATE) if running else None

    def rescale(self, batches: list[Batch]) -> tuple[list[Batch], Tensor | float]:
        """Return batches with the gradient of the spread in them, and the spread."""
        if self.score_scale != "auto":
            return batches, float(self.score_scale)
        add_up = (lambda value: value) if self.exchange is None else self.exchange.total
        moments = measure(batches, add_up)
        scores = _OwnSpread.apply(batches, moments, add_up, *(batch.scores for batch in batches))  # type: ignore[no-untyped-call]
        batches = [replace(batch, scores=s) for batch, s in zip(batches, scores, strict=True)]
        variance = moments.variance / moments.lists.clamp_min(1)
        if not bool(variance.isfinite()):  # scores may be NaN under no_checks()
            return batches, 1.0
        if self.spread is not None and bool(moments.lists):
            key = torch.zeros(1, dtype=torch.long, device=variance.device)
            variance = self.spread.update(key, variance.reshape(1, 1)).reshape(())
        spread = variance.sqrt().to(scores[0].dtype)
        return batches, torch.where(spread > 0, spread, torch.ones_like(spread))


@dataclass(frozen=True)
class Moments:
    """Mean and variance of the lists of a call; variance and count are those of all processes."""

    variance: Tensor  # Σ over the lists of the variance of their scores
    lists: Tensor  # number of lists that have items
    means: list[Tensor]  # of the lists of every batch, (lists, 1)


@torch.no_grad()
def measure(batches: list[Batch], add_up: AddUp) -> Moments:
    """Measure mean and variance of the scores of every list, by weight, without masked items."""
    variance = accumulating(torch.zeros((), device=batches[0].scores.device))
    count = torch.zeros((), dtype=torch.long, device=variance.device)
    means = []
    for batch in batches:
        found = [variance.new_zeros(0, 1)]
        for _, scores, share in _blocks(batch):
            if share is None:
                mean = scores.mean(-1, keepdim=True)
                apart = scores - mean
                variance += torch.linalg.vecdot(apart, apart).sum() / max(1, scores.shape[1])
                count += len(scores) if scores.shape[1] else 0
            else:
                mean = (share * scores).sum(-1, keepdim=True)
                variance += torch.linalg.vecdot(share, (scores - mean) ** 2).sum()
                count += (share.sum(-1) > 0).sum()
            found.append(mean)
        means.append(torch.cat(found))
    variance, lists = add_up(torch.stack([variance, count.to(variance)]))
    return Moments(variance, lists, means)


def _blocks(batch: Batch) -> Iterator[tuple[slice, Tensor, Tensor | None]]:
    """Rows, their scores (0 where masked) and each item's share of its list; None: all alike."""
    for rows in batch.blocks(_BLOCK_ITEMS):
        scores = accumulating(batch.scores[rows].detach())
        if batch.weight is None and batch.mask is None:
            yield rows, scores, None
            continue
        weight = torch.ones_like(scores)
        if batch.weight is not None:
            weight = accumulating(batch.weight[rows])
        if batch.mask is not None:
            absent = ~batch.mask[rows]
            scores, weight = scores.masked_fill(absent, 0), weight.masked_fill(absent, 0)
        yield rows, scores, weight / weight.sum(-1, keepdim=True).clamp_min(1e-30)


class _OwnSpread(torch.autograd.Function):
    """The same scores, with the gradient of a loss that divides them by their spread.

    L(s/σ(s)) has the gradient g − (Σ g·s)·∇σ/σ, where g is that with σ held fixed. Without the
    second part, which is added here, the gradient of a loss that does not depend on the size of
    the scores has a component along them, and shrinks a model to nothing. The same part makes up
    for a σ that is averaged over batches: L(c·s/σ(s)) with c the ratio of the two, taken as given.
    """

    @staticmethod
    def forward(ctx, batches: list[Batch], moments: Moments, add_up: AddUp, *scores: Tensor):  # type: ignore[no-untyped-def]
        ctx.batches = [batch.map(Tensor.detach) for batch in batches]
        ctx.moments, ctx.add_up = moments, add_up
        return tuple(s.view_as(s) for s in scores)

    @staticmethod
    @eager_only
    @torch.autograd.function.once_differentiable
    def backward(ctx, *arriving: Tensor):  # type: ignore[no-untyped-def]
        lists = list(zip(ctx.batches, ctx.moments.means, arriving, strict=True))
        along = torch.zeros_like(ctx.moments.variance)
        for batch, means, gradient in lists:
            for rows, scores, _ in _blocks(batch):
                arrived = accumulating(gradient[rows])
                along += torch.linalg.vecdot(arrived, scores - means[rows]).sum()
        along = ctx.add_up(along)
        if not bool(ctx.moments.variance > 0):
            return None, None, None, *arriving
        pull = along / ctx.moments.variance
        results = []
        for batch, means, gradient in lists:
            result = torch.empty_like(gradient)
            for rows, scores, share in _blocks(batch):
                apart = scores - means[rows]
                part = pull / apart.shape[1] if share is None else pull * share
                torch.sub(gradient[rows], apart.mul_(part).to(result.dtype), out=result[rows])
            results.append(result)
        return None, None, None, *results
