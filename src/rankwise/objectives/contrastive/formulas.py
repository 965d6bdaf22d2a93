"""What the contrastive losses share: the negatives of a list against its positives."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.lists import Lists

__all__ = ["ids", "log_mean_exp", "log_sum_exp", "mean_under_softmax", "negatives_above"]


def negatives_above(lists: Lists, temperature: Tensor | float) -> Tensor:
    """(s_j − s̄⁺)/τ of every negative, s̄⁺ the mean positive; τ is one number or (lists, 1)."""
    dtype = lists.positive_weight.dtype  # float32 at least, whatever the scores are
    centre = lists.mean_over_positives(lists.positives.to(dtype)).unsqueeze(-1)
    return (lists.negatives.to(dtype) - centre) / temperature


def log_sum_exp(exponent: Tensor, weight: Tensor) -> Tensor:
    """log Σ weight·e^exponent over the last dimension; weight 0 is an item that is not there."""
    total: Tensor = _LogSumExp.apply(exponent, weight)  # type: ignore[no-untyped-call]
    return total


class _LogSumExp(torch.autograd.Function):
    """The exponentials are taken once and kept: they are the gradient, but for their sum.

    Scores of anchors against a batch are the one large thing here, and every pass counts.
    """

    @staticmethod
    def forward(ctx, exponent: Tensor, weight: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        terms = _weighted(exponent, weight)
        top = terms.amax(-1, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0)
        total = terms.sub_(top).exp_().sum(-1, keepdim=True)
        ctx.save_for_backward(terms, total)
        return (total.log() + top).squeeze(-1)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, arriving: Tensor):  # type: ignore[no-untyped-def]
        terms, total = ctx.saved_tensors
        tiny = torch.finfo(total.dtype).tiny
        return terms * (arriving.unsqueeze(-1) / total.clamp_min(tiny)), None


def _weighted(exponent: Tensor, weight: Tensor) -> Tensor:
    """The exponent with log weight added; most weights are 0 and 1, which need no logarithm."""
    absent = weight == 0
    if not bool((absent | (weight == 1)).all()):
        exponent = exponent + weight.masked_fill(absent, 1).log()
    return exponent.masked_fill(absent, -torch.inf)


def log_mean_exp(exponent: Tensor, weight: Tensor) -> Tensor:
    """log of the weighted mean of e^exponent over the last dimension."""
    return log_sum_exp(exponent, weight) - weight.sum(-1).log()


def mean_under_softmax(exponent: Tensor, weight: Tensor) -> Tensor:
    """Σ e^x·x / Σ e^x with weights: the mean exponent, each by its share of the sum."""
    return (torch.softmax(_weighted(exponent, weight), dim=-1) * exponent).sum(-1)


def ids(lists: Lists) -> Tensor:
    """Which item every list is; the only one there is, where none are given."""
    if lists.index is not None:
        return lists.index
    return torch.zeros(len(lists.positives), dtype=torch.long, device=lists.positives.device)
