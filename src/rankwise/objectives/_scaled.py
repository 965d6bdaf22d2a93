"""Losses whose unit may be the spread of the scores of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from rankwise.checks import require_positive
from rankwise.eager import Context, Function, eager_backward
from rankwise.lists import same_ids
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
        self.refuses_second = score_scale == "auto"
        self.spread = MovingAverage(1, ema_rate=_EMA_RATE) if running else None

    def rescale(self, batches: list[Batch]) -> tuple[list[Batch], Tensor | float]:
        """Return batches with the gradient of the spread in them, and what still divides them.

        That is the spread, or 1 where it has divided them already: for one list, in few operations.
        """
        if self.score_scale != "auto":
            return batches, float(self.score_scale)
        with_gradient = torch.is_grad_enabled() and any(b.scores.requires_grad for b in batches)
        batch, alone = batches[0], len(batches) == 1 and self.exchange is None
        plain = batch.scores.shape[0] == 1 and batch.mask is None and batch.weight is None
        if with_gradient and alone and plain and 0 < batch.scores.shape[1] <= _BLOCK_ITEMS:
            # A spread in float32 is wrong for scores that are far from 0.
            scores = batch.scores.detach()
            scores = scores.float() if scores.is_mps else scores.double()
            variance, mean = torch.var_mean(scores, correction=0)
            floor = torch.finfo(batch.scores.dtype).tiny
            divisor = self._spread_of(variance, floor)
            # Below the floor the scale is a constant, and has no gradient.
            held = torch.threshold(variance, floor, torch.inf)
            divided = _OneListInUnits.apply(batch.scores, scores - mean, held, divisor)
            previous = None if batch.previous is None else batch.previous / divisor
            return [batch._replace(scores=divided, previous=previous)], 1.0
        moments = measure(batches, None if self.exchange is None else self.exchange.total)
        if with_gradient:
            attached = _OwnSpread.apply(  # type: ignore[no-untyped-call]
                batches, moments, *(batch.scores for batch in batches)
            )
            batches = [batch._replace(scores=s) for batch, s in zip(batches, attached, strict=True)]
        return batches, self._spread_of(moments.variance / moments.lists, moments.floor)

    def _spread_of(self, variance: Tensor, floor: float) -> Tensor:
        """The spread of a batch or, if it is running, of the batches up to this one."""
        if self.spread is not None:
            # NaN, of no list or of NaN scores under no_checks(), must not stay in the average.
            known, estimate = variance < torch.inf, variance.view(1, 1)
            variance = self.spread.update(same_ids(1, variance.device), estimate, valid=known)
            variance = variance.view(())
        # Scores that are all but tied are not blown up beyond what their gradients can hold.
        return torch.threshold(variance, 0, 1).clamp_min(floor).sqrt()


class _OneListInUnits(Function):
    """Scores divided by their spread, with the gradient of a loss of s/σ(s).

    That is (g − a·mean(a·g)/variance)/σ, where a are the scores less their mean, and g arrives.
    """

    @staticmethod
    def forward(
        ctx: Context[None], scores: Tensor, apart: Tensor, variance: Tensor, spread: Tensor
    ) -> Tensor:
        ctx.save_for_backward(scores, apart, variance, spread)
        return scores / spread

    @staticmethod
    @eager_backward
    def backward(ctx: Context[None], *arriving: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (_, apart, variance, spread) = arriving, ctx.saved_tensors
        along = (apart * gradient).sum() / variance
        across = torch.addcmul(gradient, apart, along, value=-1 / apart.shape[1])
        return across.div_(spread).to(gradient.dtype), None, None, None


class Block(NamedTuple):
    """Some rows of a batch, less the mean of each, and each item's share of its list."""

    rows: slice
    apart: Tensor  # (rows, items)
    mean: Tensor  # (rows, 1)
    share: Tensor | None = None  # (rows, items), 0 where masked; None: all alike


class Moments(NamedTuple):
    """Mean and variance of the lists of a call; variance and count are those of all processes."""

    variance: Tensor  # Σ over the lists of the variance of their scores
    lists: Tensor | int  # number of lists that have items
    means: list[list[Tensor]]  # of the lists of every block of every batch, (rows, 1)
    add_up: AddUp | None = None
    floor: float = 0.0  # least variance that scores are divided by the root of


def measure(batches: list[Batch], add_up: AddUp | None = None) -> Moments:
    """Measure mean and variance of the scores of every list, by weight, without masked items."""
    means: list[list[Tensor]] = []
    variances: list[Tensor] = []
    counts: list[Tensor | int] = []
    for batch in batches:
        means.append([])
        for block in _blocks(batch):
            squares, size = block.apart * block.apart, block.apart.shape[1]
            if block.share is None:
                rows = squares.shape[0] if size else 0
                variances.append(squares.sum() / max(1, size))
                counts.append(rows)
            else:
                variances.append((squares * block.share).sum())
                counts.append((block.share.sum(-1) > 0).sum())
            means[-1].append(block.mean)
    if not variances:  # no rows; other processes may have some
        variances.append(accumulating(torch.zeros((), device=batches[0].scores.device)))
        counts.append(0)
    variance, lists = sum(variances[1:], variances[0]), sum(counts[1:], counts[0])
    if add_up is not None:
        count = torch.as_tensor(lists, device=variance.device).to(variance)
        variance, lists = add_up(torch.stack([variance, count]))
    floor = torch.finfo(batches[0].scores.dtype).tiny
    return Moments(variance, lists, means, add_up, floor)


def _blocks(batch: Batch, means: list[Tensor] | None = None) -> Iterator[Block]:
    """The rows of a batch in blocks that bound the memory, with means where they are known."""
    blocks = batch.blocks(_BLOCK_ITEMS)
    for number, rows in enumerate(blocks):
        part = batch if len(blocks) == 1 else batch.rows(rows)
        scores, mean = accumulating(part.scores.detach()), None if means is None else means[number]
        if part.weight is None and part.mask is None:
            mean = scores.mean(-1, keepdim=True) if mean is None else mean
            yield Block(rows, scores - mean, mean)
            continue
        weight = torch.ones_like(scores) if part.weight is None else accumulating(part.weight)
        if part.mask is not None:
            absent = ~part.mask
            scores, weight = scores.masked_fill(absent, 0), weight.masked_fill(absent, 0)
        share = weight / weight.sum(-1, keepdim=True).clamp_min(1e-30)
        mean = (share * scores).sum(-1, keepdim=True) if mean is None else mean
        yield Block(rows, scores - mean, mean, share)


class _OwnSpread(torch.autograd.Function):
    """The same scores, with the gradient of a loss that divides them by their spread.

    L(s/σ(s)) has the gradient g − (Σ g·s)·∇σ/σ, where g is that with σ held fixed. Without the
    second part, which is added here, the gradient of a loss that does not depend on the size of
    the scores has a component along them, and shrinks a model to nothing. The same part makes up
    for a σ that is averaged over batches: L(c·s/σ(s)) with c the ratio of the two, taken as given.
    """

    @staticmethod
    def forward(ctx, batches: list[Batch], moments: Moments, *scores: Tensor):  # type: ignore[no-untyped-def]
        ctx.moments = moments
        ctx.save_for_backward(*scores)
        ctx.batches = [batch.detached() for batch in batches]
        return tuple(s.view_as(s) for s in scores)

    @staticmethod
    @eager_backward
    def backward(ctx, *arriving: Tensor):  # type: ignore[no-untyped-def]
        moments: Moments = ctx.moments
        lists = list(zip(ctx.batches, moments.means, arriving, strict=True))
        along = torch.zeros_like(moments.variance)
        for batch, means, gradient in lists:
            for block in _blocks(batch, means):
                along += (block.apart.mul_(gradient[block.rows])).sum()
        pull, results = _pull(moments, along), []
        for batch, means, gradient in lists:
            result = torch.empty_like(gradient)
            for block in _blocks(batch, means):
                result[block.rows] = _without(gradient[block.rows], block, pull)
            results.append(result)
        return None, None, *results


def _pull(moments: Moments, along: Tensor) -> Tensor:
    """How much of the scores is in a gradient, from Σ g·(s − mean) of this process."""
    if moments.add_up is not None:
        along = moments.add_up(along)
    # Below the floor the scale is a constant, and has no gradient.
    floor = moments.floor * moments.lists
    return torch.where(moments.variance > floor, along / moments.variance, 0)


def _without(gradient: Tensor, block: Block, pull: Tensor) -> Tensor:
    """The gradient without its part along the scores."""
    size = 1
    if block.share is None:
        size = block.apart.shape[1]
    else:
        pull = pull * block.share
    return torch.addcmul(gradient, block.apart, pull, value=-1 / max(1, size)).to(gradient.dtype)
