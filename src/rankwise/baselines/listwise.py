"""Listwise losses for graded relevance: ListMLE, ApproxNDCG and LambdaLoss."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import softplus
from torch.utils.checkpoint import checkpoint

from rankwise.checks import require_count, require_number, require_one_of, require_positive
from rankwise.lists import Lists
from rankwise.metrics.dcg import Gain, discount_through
from rankwise.metrics.ranking import mass_above, rank_items, ratio
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction
from rankwise.objectives.ndcg import NDCG
from rankwise.objectives.ndcg.ndcg import normalized_gains
from rankwise.pairs import Sigmoid


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

    twice_differentiable = True
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
        temperature: T over which the step is smoothed; 1/α in the paper. 0.1 is the default of
            TensorFlow Ranking.
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


_CHUNK = 1 << 20  # pairs evaluated in one chunk


class _Items(NamedTuple):
    """Some items of some lists, (lists, items) each."""

    scores: Tensor
    weight: Tensor
    gain: Tensor
    rank: Tensor
    discount: Tensor  # mean of 1/D over the ranks of the tied items, 0 where it does not count
    step: Tensor  # mean of |1/D(r) − 1/D(r')| over two of these ranks
    spacing: Tensor  # mean of the bound's weight over them

    def part(self, lists: slice, items: slice) -> _Items:
        return _Items(*(t[lists, items] for t in self))


class LambdaLoss(Objective):
    """LambdaLoss for NDCG (NDCG-Loss2++): pairs weighted by the NDCG their order is worth.

    The loss is Σ_{y_i > y_j} (ρ_ij + μδ_ij)·|G_i − G_j|·log₂(1 + e^(−σ(s_i − s_j))). With r the
    current ranks, D(r) = log₂(1 + r) and G the gains divided by the ideal DCG, ρ_ij = |1/D(r_i) −
    1/D(r_j)| is LambdaRank's weight and, with d = |r_i − r_j|, δ_ij = 1/D(d) − 1/D(d + 1) the
    bound's. Neither carries a gradient. Of tied items ρ is the mean over their orders, so that a
    list of equal scores has a gradient, too; so is δ of two tied items, and for others d is the
    difference of mean ranks.

    The weights depend on both ranks, so that the cost is relevant items × items of each list. It is
    paid in chunks of bounded memory, which the backward pass evaluates again.

    Args:
        k: For NDCG@k: pairs with at least one item among the first k, 1/D = 0 beyond them, and the
            ideal DCG of k ranks. None for whole lists.
        sigma: Steepness σ of the logistic loss. σ and μ are the defaults of allegro/allRank,
            ``lambdaLoss.py``.
        mu: Weight μ of the bound; 0 is LambdaRank.
        gain: ``"exponential"`` (2^y − 1) or ``"linear"`` (y).
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import LambdaLoss
        >>> scores, target = torch.tensor([0.0, 1.0]), torch.tensor([1, 0])
        >>> LambdaLoss(mu=0.0)(scores, target)  # (1 − 1/log₂(3)) · log₂(1 + e)
        tensor(0.6993)

    Reference:
        Wang et al. 2018, "The LambdaLoss framework for ranking metric optimization".
    """

    twice_differentiable = True
    graded: ClassVar[bool] = True

    def __init__(
        self,
        k: int | None = None,
        sigma: float = 1.0,
        mu: float = 10.0,
        gain: Gain = "exponential",
        *,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if k is not None:
            require_count("k", k)
        require_positive("sigma", sigma)
        require_number("mu", mu, minimum=0)
        require_one_of("gain", gain, ("exponential", "linear"))
        self.k, self.sigma, self.mu, self.gain = k, sigma, mu, gain

    def risk(self, lists: Lists) -> Tensor:
        everything = self._items(lists.widened())
        rows, relevant = lists.positives.shape
        items = lists.scores.shape[-1]
        lists_per_chunk = max(1, _CHUNK // (relevant * items))
        if lists_per_chunk >= rows:
            return self._pairs(everything.part(slice(None), slice(relevant)), everything)
        uppers_per_chunk = max(1, _CHUNK // items)
        risks = []
        for row in range(0, rows, lists_per_chunk):
            some = slice(row, row + lists_per_chunk)
            lower = everything.part(some, slice(None))
            total = lower.scores.new_zeros(len(lower.scores))
            for start in range(0, relevant, uppers_per_chunk):
                stop = min(relevant, start + uppers_per_chunk)
                upper = lower.part(slice(None), slice(start, stop))
                total = total + checkpoint(
                    self._pairs, upper, lower, use_reentrant=False, preserve_rng_state=False
                )
            risks.append(total)
        return torch.cat(risks)

    def _pairs(self, upper: _Items, lower: _Items) -> Tensor:
        """Sum over all pairs of an upper item that is more relevant than a lower one, (lists,)."""
        i = _Items(*(t.unsqueeze(-1) for t in upper))
        j = _Items(*(t.unsqueeze(-2) for t in lower))
        tied, apart = i.rank == j.rank, (i.rank - j.rank).abs().clamp_min(1)
        bound = 1 / torch.log2(1 + apart) - 1 / torch.log2(2 + apart)
        step = torch.where(tied, i.step, (i.discount - j.discount).abs())
        worth = step + self.mu * torch.where(tied, i.spacing, bound)
        if self.k is not None:
            worth = worth * ((i.discount > 0) | (j.discount > 0))
        worth = worth * (i.gain - j.gain).clamp_min(0) * i.weight * j.weight
        return (worth * softplus(-self.sigma * (i.scores - j.scores))).sum((-1, -2)) / math.log(2)

    def _items(self, lists: Lists) -> _Items:
        of_levels = _ranks(lists.scores.detach(), lists.weight, self.k)
        gains = normalized_gains(lists, self.gain, self.k)
        return _Items(lists.scores, lists.weight, gains, *of_levels)


@torch.no_grad()
def _ranks(scores: Tensor, weight: Tensor, k: int | None) -> tuple[Tensor, ...]:
    """Return mean rank, mean discount, step and spacing of the items tied with every item.

    Over all orders of the tied items, that is: of a and m the numbers of items above and tied, the
    ranks a + 1, …, a + m are equally likely, and so is any two of them for a tied pair.
    """
    ranking = rank_items(scores, torch.zeros_like(scores), weight)
    mass, above = ranking.mass, mass_above(ranking.mass)
    rank = above + (mass + 1) / 2

    def within(low: Tensor, size: Tensor) -> tuple[Tensor, Tensor]:
        """Σ 1/D(r) and Σ r/D(r) over the ranks above ``low``, ``size`` of them."""
        ends = torch.stack([low, low + size])
        ends = ends if k is None else ends.clamp_max(k)
        return discount_through(ends).diff(dim=0)[0], _ranks_through(ends).diff(dim=0)[0]

    discount = ratio(within(above, mass)[0], mass)
    # Two different ranks are those of whole items.
    low, size = above.round(), mass.round().clamp_min(2)
    total, moment = within(low, size)
    pairs = size * (size - 1) / 2
    step = ((2 * low + size + 1) * total - 2 * moment) / pairs
    spacing = (size - discount_through(size)) / pairs
    results = []
    for value in (rank, discount, step, spacing):
        of_items = value.gather(-1, ranking.level)
        back = torch.zeros_like(of_items).scatter(-1, ranking.order, of_items)
        results.append(back.to(weight.dtype))
    return tuple(results)


def _ranks_through(rank: Tensor) -> Tensor:
    """Return Σ_{r ≤ rank} r/log₂(1 + r), for whole ranks."""
    ranks = torch.arange(1, math.ceil(float(rank.max())) + 2, dtype=rank.dtype, device=rank.device)
    through = torch.nn.functional.pad((ranks / (1 + ranks).log2()).cumsum(0), (1, 0))
    return through[rank.long()]
