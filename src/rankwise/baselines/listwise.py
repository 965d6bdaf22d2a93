"""Listwise losses for graded relevance: ListMLE and ApproxNDCG."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from rankwise.checks import require_positive
from rankwise.lists import Lists
from rankwise.metrics.dcg import Gain
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction
from rankwise.objectives.ndcg import NDCG
from rankwise.pairs import Sigmoid

__all__ = ["ApproxNDCG", "ListMLE"]


class ListMLE(Objective):
    """ListMLE: negative log-likelihood of the ideal order under the Plackett–Luce model.

    The loss is Σ_r [log Σ_{t≥r} e^{s_(t)} − s_(r)] with items (1), (2), … by falling relevance: how
    unlikely that order is if items are drawn without replacement with odds e^s. The paper has one
    ideal order; items of equal relevance are ordered by their scores here, which is the most likely
    order and does not depend on the input. An item of weight w has its term w times and is w·e^s in
    the sums: nearly the item twice for w = 2, except that the second copy is drawn after the first.
    n log n.

    Args:
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import ListMLE
        >>> ListMLE()(torch.zeros(3), torch.tensor([2, 1, 0]))  # log(3!): all orders alike
        tensor(1.7918)

    Reference:
        Xia et al. 2008, "Listwise approach to learning to rank: Theory and algorithm".
    """

    graded: ClassVar[bool] = True

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        # Absent items come first, where no sum of others has them.
        relevance = lists.relevances.masked_fill(lists.weight == 0, torch.inf)
        order = _right_order(lists.scores, relevance)
        scores, relevance, weight = (
            t.gather(-1, order) for t in (lists.scores, relevance, lists.weight)
        )
        scores = _shared(scores, relevance)
        odds = scores + weight.log()
        remaining = odds.flip(-1).logcumsumexp(-1).flip(-1)
        return (weight * (remaining - scores)).sum(-1)


@torch.no_grad()
def _right_order(scores: Tensor, relevance: Tensor) -> Tensor:
    """Return the order by falling relevance, and by falling score within a relevance."""
    by_score = scores.argsort(dim=-1, descending=True)
    ordered = relevance.gather(-1, by_score)
    return by_score.gather(-1, ordered.argsort(dim=-1, descending=True, stable=True))


def _shared(scores: Tensor, relevance: Tensor) -> Tensor:
    """Give items of equal score and relevance their mean score: same value, equal gradients."""
    new = (scores[:, 1:] != scores[:, :-1]) | (relevance[:, 1:] != relevance[:, :-1])
    level = torch.nn.functional.pad(new.long().cumsum(-1), (1, 0))
    total = torch.zeros_like(scores).scatter_add(-1, level, scores)
    count = torch.zeros_like(scores).scatter_add(-1, level, torch.ones_like(scores))
    return (total / count.clamp_min(1)).gather(-1, level)


class ApproxNDCG(NDCG):
    """ApproxNDCG: NDCG with ranks made of sigmoids.

    The loss is 1 − (1/Z) Σ_i gain(y_i)/log₂(1 + r_i) with r_i = 1 + Σ_{j≠i} σ((s_j − s_i)/T). It is
    :class:`~rankwise.objectives.NDCG` with the sigmoid as surrogate, in n log n.

    Args:
        temperature: T over which the step is smoothed; 1/α in the paper.
        gain: ``"exponential"`` (2^y − 1) or ``"linear"`` (y).
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import ApproxNDCG
        >>> ApproxNDCG()(torch.zeros(2), torch.tensor([1, 0]))  # rank 1.5: 1 − 1/log₂(2.5)
        tensor(0.2435)

    Reference:
        Qin, Liu and Li 2010, "A general approximation framework for direct optimization of
        information retrieval measures".
    """

    def __init__(
        self, temperature: float = 0.1, gain: Gain = "exponential", *, reduction: Reduction = "mean"
    ) -> None:
        require_positive("temperature", temperature)
        super().__init__(None, Sigmoid(1 / temperature), gain, reduction=reduction)
        self.temperature = temperature
