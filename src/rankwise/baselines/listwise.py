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
    """Σ_r [log Σ_{t≥r} e^{s_(t)} − s_(r)], items (1), (2), … by relevance   (Xia et al. 2008).

    Minus the log-likelihood that items drawn without replacement with odds e^s come out in that
    order. The paper has one right order; items of equal relevance stand here in the order of their
    scores, the most likely one and none that depends on the input. An item of weight w has its term
    w times and is w·e^s in the sums: for w = 2 the item twice, but for the second copy being drawn
    when the first is gone. n log n.
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
    """By relevance and then by score, both falling."""
    by_score = scores.argsort(dim=-1, descending=True)
    ordered = relevance.gather(-1, by_score)
    return by_score.gather(-1, ordered.argsort(dim=-1, descending=True, stable=True))


def _shared(scores: Tensor, relevance: Tensor) -> Tensor:
    """Items that nothing tells apart take their mean score: the same value, an equal gradient."""
    new = (scores[:, 1:] != scores[:, :-1]) | (relevance[:, 1:] != relevance[:, :-1])
    level = torch.nn.functional.pad(new.long().cumsum(-1), (1, 0))
    total = torch.zeros_like(scores).scatter_add(-1, level, scores)
    count = torch.zeros_like(scores).scatter_add(-1, level, torch.ones_like(scores))
    return (total / count.clamp_min(1)).gather(-1, level)


class ApproxNDCG(NDCG):
    """1 − (1/Z) Σ_i gain(y_i)/log₂(1 + r_i), r_i = 1 + Σ_{j≠i} σ((s_j − s_i)/T).

    Qin, Liu and Li 2010: the sigmoid σ is the step that counts who is above i, smoothed over the
    ``temperature`` T (the paper's 1/α). It is :class:`~rankwise.objectives.ndcg.NDCG` with that
    surrogate, in n log n.
    """

    def __init__(
        self, temperature: float = 0.1, gain: Gain = "exponential", *, reduction: Reduction = "mean"
    ) -> None:
        require_positive("temperature", temperature)
        super().__init__(None, Sigmoid(1 / temperature), gain, reduction=reduction)
        self.temperature = temperature
