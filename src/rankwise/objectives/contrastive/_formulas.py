"""What the contrastive losses share: the negatives of a list against its positives."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.eager import Context, Function, differentiable_backward, gradients_of
from rankwise.lists import Lists


def negatives_above(lists: Lists, temperature: Tensor | float) -> Tensor:
    """(s_j − s̄⁺)/τ of every negative, s̄⁺ the mean positive; τ is one number or (lists, 1)."""
    return (lists.negatives.to(lists.negative_weight.dtype) - _center(lists)) / temperature


def log_mean_exp_above(lists: Lists, temperature: float) -> Tensor:
    """log mean_j e^((s_j − s̄⁺)/τ) over the negatives of every list, (lists,)."""
    negatives, weight = lists.negatives.to(lists.negative_weight.dtype), lists.negative_weight
    size = lists.n_negatives.squeeze(-1).log()
    if lists.places is None:
        center = _center(lists).squeeze(-1)
        return log_sum_exp(negatives, weight, temperature) - center / temperature - size
    share = lists.positive_weight / lists.n_positives
    return _LogSumExp.apply(negatives, weight, temperature, lists.places, share) - size


def _center(lists: Lists) -> Tensor:
    """The mean positive of every list, (lists, 1), in float32 at least whatever the scores are."""
    positives = lists.positives.to(lists.positive_weight.dtype)
    return lists.mean_over_positives(positives).unsqueeze(-1)


def log_sum_exp(scores: Tensor, weight: Tensor, temperature: float = 1.0) -> Tensor:
    """log Σ weight·e^(score/τ) over the last dimension; weight 0 is an absent item."""
    return _LogSumExp.apply(scores, weight, temperature, None, None)


def _again(ctx: Context[float], *arriving: Tensor) -> tuple[Tensor | None, ...]:
    """The gradient in torch's own operations, with a graph."""
    scores, weight, _, _, places, share = ctx.saved_tensors

    def total(each: Tensor) -> Tensor:
        result = torch.logsumexp(each / ctx.kept + weight.log(), -1)
        if places is None:
            return result
        return result - (each.gather(-1, places) * share).sum(-1) / ctx.kept

    return *gradients_of(total, [scores], [True], arriving[0]), None, None, None, None


class _LogSumExp(Function):
    """log Σ weight·e^((score − center)/τ), the exponentials taken once and kept.

    They are the gradient, but for their sum. The center is Σ share·score over some ``places`` of
    the list, or 0. Scores of anchors against a batch are the one large thing here, and every pass
    over them counts: the center is taken from the largest score, not from each, which is the same
    and as exact, and its gradient is put into that of the exponentials.
    """

    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Context[float],
        scores: Tensor,
        weight: Tensor,
        temperature: float,
        places: Tensor | None,
        share: Tensor | None,
    ) -> Tensor:
        # Absent items are moved below everything: several times as fast as a masked fill, and
        # its weight is 0 anyway.
        terms = weight.sign().sub_(1)
        torch.add(scores, terms, alpha=torch.finfo(scores.dtype).max / 4, out=terms)
        top = terms.amax(-1, keepdim=True)
        terms.sub_(top)
        if temperature != 1:
            terms.div_(temperature)
        total = terms.exp_().mul_(weight).sum(-1, keepdim=True)
        ctx.save_for_backward(scores, weight, terms, total, places, share)
        ctx.kept = temperature
        if places is not None and share is not None:
            top = top - (scores.gather(-1, places) * share).sum(-1, keepdim=True)
        return (total.log() + top / temperature).squeeze(-1)

    @staticmethod
    @differentiable_backward(_again)
    def backward(ctx: Context[float], *arriving: Tensor) -> tuple[Tensor | None, ...]:
        _, _, terms, total, places, share = ctx.saved_tensors
        scaled = arriving[0].unsqueeze(-1) / ctx.kept
        gradient = terms * (scaled / total.clamp_min(torch.finfo(total.dtype).tiny))
        if places is not None:
            gradient.scatter_add_(-1, places, -scaled * share)
        return gradient, None, None, None, None


def log_mean_exp(exponent: Tensor, weight: Tensor) -> Tensor:
    """log of the weighted mean of e^exponent over the last dimension."""
    return log_sum_exp(exponent, weight) - weight.sum(-1).log()


def mean_under_softmax(exponent: Tensor, weight: Tensor) -> Tensor:
    """Σ e^x·x / Σ e^x with weights: the mean exponent, each by its share of the sum."""
    return (torch.softmax(exponent + weight.log(), dim=-1) * exponent).sum(-1)
