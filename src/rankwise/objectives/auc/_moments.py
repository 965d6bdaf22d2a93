"""Means and variances of the two classes, which determine the square loss over all pairs."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.eager import eager_only
from rankwise.lists import Lists


def class_moments(lists: Lists) -> tuple[Tensor, Tensor, Tensor]:
    """Return mean_P s, mean_N s and the sum of the two variances of every list, (lists,) each.

    ``lists`` are whole on both sides (``whole_positives``, ``whole_negatives``).
    """
    scores = lists.positives.to(lists.positive_weight.dtype)  # half precision has too few digits
    of_above = lists.positive_weight / lists.n_positives
    of_below = lists.negative_weight / lists.n_negatives
    above, below, spread = _Moments.apply(scores, of_above, of_below)  # type: ignore[no-untyped-call]
    return above, below, spread


class _Moments(torch.autograd.Function):
    """Means and spread of scores under two sets of shares, with the gradient in closed form.

    At the size of a batch every node of a graph costs more than its arithmetic.
    """

    @staticmethod
    def forward(ctx, scores: Tensor, of_above: Tensor, of_below: Tensor):  # type: ignore[no-untyped-def]
        mean_above, mean_below, about = _about(scores, of_above, of_below)
        # Both are 0 up to rounding errors, which they correct.
        above, below = (of_above * about).sum(-1), (of_below * about).sum(-1)
        weighed = (of_above + of_below) * about
        spread = (weighed * about).sum(-1)
        spread = spread.addcmul_(above, above, value=-1).addcmul_(below, below, value=-1)
        ctx.save_for_backward(scores, of_above, of_below, weighed)
        return above + mean_above.squeeze(-1), below + mean_below.squeeze(-1), spread

    @staticmethod
    @eager_only
    def backward(ctx, above: Tensor, below: Tensor, spread: Tensor):  # type: ignore[no-untyped-def]
        scores, of_above, of_below, weighed = ctx.saved_tensors
        if torch.is_grad_enabled():  # for second derivatives
            weighed = (of_above + of_below) * _about(scores, of_above, of_below)[2]
        gradient = of_above * above.unsqueeze(-1)
        gradient = gradient.addcmul(of_below, below.unsqueeze(-1))
        return gradient.addcmul(weighed, spread.unsqueeze(-1), value=2), None, None


def _about(scores: Tensor, of_above: Tensor, of_below: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return both means, (lists, 1), and the scores less the mean of their class."""
    mean_above = (of_above * scores).sum(-1, keepdim=True)
    mean_below = (of_below * scores).sum(-1, keepdim=True)
    return mean_above, mean_below, scores - torch.where(of_above > 0, mean_above, mean_below)
