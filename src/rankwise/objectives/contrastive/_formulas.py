"""What the contrastive losses share: the negatives of a list against its positives."""

from __future__ import annotations

from typing import Any, cast

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
        value, top = log_sum_exp_and_top(negatives, weight, temperature)
        positives = lists.positives.to(lists.positive_weight.dtype)
        return value + lists.mean_over_positives(top - positives) / temperature - size
    share = lists.positive_weight / lists.n_positives
    value, _ = _applied(negatives, weight, temperature, lists.places, share)
    return value - size


def _center(lists: Lists) -> Tensor:
    """The mean positive of every list, (lists, 1), in float32 at least whatever the scores are."""
    positives = lists.positives.to(lists.positive_weight.dtype)
    return lists.mean_over_positives(positives).unsqueeze(-1)


def log_sum_exp(scores: Tensor, weight: Tensor, temperature: float = 1.0) -> Tensor:
    """log Σ weight·e^(score/τ) over the last dimension; weight 0 is an absent item."""
    value, top = log_sum_exp_and_top(scores, weight, temperature)
    return value + top.squeeze(-1) / temperature


def log_sum_exp_and_top(
    scores: Tensor, weight: Tensor, temperature: float = 1.0
) -> tuple[Tensor, Tensor]:
    """log Σ weight·e^((score − top)/τ), and top, the largest score, which counts as constant.

    What is subtracted from the sum is to be subtracted from ``top`` first: among scores of 1e9
    the logarithm is less than what rounding takes. The gradient is that of the whole sum.
    """
    return _applied(scores, weight, temperature, None, None)


def _applied(*arguments: object) -> tuple[Tensor, Tensor]:
    return cast("tuple[Tensor, Tensor]", _LogSumExp.apply(*arguments))


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
    """log Σ weight·e^((score − center)/τ) and the largest score, the exponentials taken once.

    They are the gradient, but for their sum. The center is Σ share·score over some ``places`` of
    the list, or the largest score, taken as constant. Scores of anchors against a batch are the
    one large thing here, and every pass over them counts: the center is taken from the largest
    score, not from each, which is the same and as exact, and its gradient is put into that of
    the exponentials.
    """

    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Context[float],
        scores: Tensor,
        weight: Tensor,
        temperature: float,
        places: Tensor | None,
        share: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
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
        context: Any = ctx
        context.mark_non_differentiable(top)
        value = total.log().squeeze(-1)
        if places is not None and share is not None:
            value += ((top - scores.gather(-1, places)) * share).sum(-1) / temperature
        return value, top

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
