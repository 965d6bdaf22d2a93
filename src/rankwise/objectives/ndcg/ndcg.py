"""NDCG and NDCG@k by a surrogate of the rank, with each item's own rank followed on request."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import ClassVar, Literal

import torch
from torch import Tensor

from rankwise.checks import require_count, require_one_of, require_positive
from rankwise.lists import Lists
from rankwise.memory import FCCOAverage, MemoryUpdate
from rankwise.memory.fcco import tracked
from rankwise.metrics.dcg import Gain, best_gain, gains_of
from rankwise.objectives._selection import share_at_the_top
from rankwise.objectives.base import Objective, Reduction, Risk
from rankwise.pairs import (
    Exponential,
    Linear,
    Logistic,
    Surrogate,
    as_surrogate,
    pair_logsumexp,
    pair_sum,
)

Competitors = Literal["all", "negatives"]
"""Items that a relevant item is ranked against: all others of its list, or the irrelevant ones."""


class NDCG(Objective):
    """NDCG and NDCG@k as a loss, with a surrogate of the rank.

    The loss is 1 − (1/Z) Σ_{i relevant} gain(y_i)/log₂(1 + g_i) with g_i = 1 + Σ_{j≠i} ℓ(s_i −
    s_j). ``target`` holds relevances ≥ 0, gain(y) is 2^y − 1 or y, and Z is that of the metric: the
    largest sum that an order can reach. j runs over the whole list, and the item itself counts as
    exactly 1 whatever ℓ(0) is. So g is at least the rank where ℓ ≥ ℓ₀₁, as with the published
    ``SquaredHinge(1.0)``, and the loss is then an upper bound of 1 − NDCG. The default ℓ gives no
    bound and costs two to four times as much on long lists; it was chosen on the held-out queries
    of ``benchmarks/ranking.py``, where it led by a small margin. ``Sigmoid`` makes it ApproxNDCG.

    With ``k`` only the relevant items among the first k of their list count. This is the selector
    of K-SONG with its threshold, the k-th highest score, found exactly; items tied there share what
    is left. Z is that of k ranks, and a bound is one of 1 − NDCG@k. Relevant items below the first
    k have no gradient: on long lists start with ``k=None``, or set ``softness``.

    Where a batch has only a part of each list (SONG), set ``length``: of the items of the whole
    list the batch has a random n. Ranks are then 1 + (g − 1)(length − 1)/(n − 1), and each item
    stands for length/n in Z. With ``num_items`` every relevant item keeps a moving average of its
    own g, and with ``k`` of its share in the first k.

    With ``surrogate="exponential"`` a relevant item far down the list still has a gradient, so that
    training starts from nothing; ℓ(x) = e^(−x/T) is ``Exponential(1/T)``. Its sums are logarithms
    throughout, in linear time. ``competitors="negatives"`` lets every relevant item have a list of
    its own, of itself and what is not relevant; this is the objective of ``rankwise recommend``.

    ``outer="log"`` is Σ_i p_i log log₂(1 + g_i) + log(Z/Σ gain), p_i = gain(y_i)/Σ gain, which
    bounds the −log of the sum above (Jensen). As log₂(1 + g) ≤ g, a softmax bounds it in turn.

    An item of whole weight w is w items. A fraction of an item is one item in its own g.

    Args:
        k: Number of ranks that count; None for all.
        surrogate: Pairwise loss ℓ, or its string.
        gain: ``"exponential"``, 2^y − 1, or ``"linear"``, y.
        printed: Whether the item itself counts as ℓ(0) in its own g, as EXM prints it. g is then
            Σ_j ℓ(s_i − s_j) over all items; where ℓ(0) < 1 it may be below 1, and the loss of a
            good ranking below 0.
        softness: Temperature T of the selector, in units of the scores. An item then counts by σ((s
            − λ)/T), with λ such that k items count in all, and both have a gradient (Eq. 5 of
            K-SONG with λ found exactly and T for both of its temperatures). There is no bound then.
        competitors: Items j of g_i: ``"all"`` others of the list, or ``"negatives"``: those that
            are not relevant. Z is then Σ gain, and the loss does not bound 1 − NDCG.
        outer: ``"ndcg"``, or ``"log"`` for the bound of −log NDCG; it takes no ``k``.
        num_items: Number of items in the data set, one for each pair of query and document; the
            call then needs ``item_ids``. None keeps no averages.
        length: Number of items of each whole list, where batches have a part of it.
        ema_rate: Rate γ of the moving averages.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import NDCG
        >>> from rankwise.pairs import Sigmoid
        >>> scores, relevance = torch.tensor([2.0, 1.0, 0.0]), torch.tensor([0, 1, 0])
        >>> NDCG(surrogate=Sigmoid(100.0))(scores, relevance)  # rank 2: 1 - 1/log2(3)
        tensor(0.3691)
        >>> NDCG(k=1, surrogate=Sigmoid(100.0))(scores, relevance)  # not in the first 1
        tensor(1.)
        >>> ties, relevance = torch.zeros(2), torch.tensor([1, 0])
        >>> NDCG()(ties, relevance)  # 1 − 1/log₂(2 + log 2)
        tensor(0.3004)
        >>> NDCG(printed=True)(ties, relevance)  # 1 − 1/log₂(1 + 2 log 2)
        tensor(0.2030)
        >>> NDCG(surrogate="exponential", outer="log")(ties, relevance)  # log log₂(1 + 2)
        tensor(0.4606)

    Reference:
        EXM 2.3.4; Qiu et al. 2022, "Large-scale Stochastic Optimization of NDCG Surrogates for Deep
        Learning with Provable Convergence" (SONG, K-SONG).
    """

    graded: ClassVar[bool] = True

    def __init__(
        self,
        k: int | None = None,
        surrogate: Surrogate | str = Logistic(1.0),  # noqa: B008  (surrogates are frozen)
        gain: Gain = "exponential",
        *,
        printed: bool = False,
        softness: float | None = None,
        competitors: Competitors = "all",
        outer: Literal["ndcg", "log"] = "ndcg",
        num_items: int | None = None,
        length: int | None = None,
        ema_rate: float = 0.9,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        for name, value in (("k", k), ("num_items", num_items), ("length", length)):
            if value is not None:
                require_count(name, value)
        require_one_of("gain", gain, ("exponential", "linear"))
        if softness is not None:
            require_positive("softness", softness)
        require_one_of("competitors", competitors, ("all", "negatives"))
        require_one_of("outer", outer, ("ndcg", "log"))
        if outer == "log" and k is not None:
            raise ValueError(f"k must be None with outer='log', got k={k}; use outer='ndcg'")
        self.softness, self.competitors, self.outer = softness, competitors, outer
        self.k, self.gain, self.length = k, gain, length
        self.surrogate = as_surrogate(surrogate)
        exponential = isinstance(self.surrogate, Exponential)
        self.in_logarithms = exponential and num_items is None and length is None
        # Only the sum over the negatives is needed then, and nothing is sorted.
        alone = competitors == "negatives" and k is None
        self.whole_negatives = self.in_logarithms and alone  # type: ignore[misc]
        self.sums_negatives = self.whole_negatives and self.surrogate == Exponential(1.0)
        self.itself = self.surrogate.maximum(0, 0) if printed else 1.0
        # A soft cut moves with the scores, and only its first derivative is known.
        self.twice_differentiable = num_items is None and softness is None
        self.average: FCCOAverage | None = None
        if num_items is not None:
            self.memory_by, self.memory_size = "item", num_items
            self.average = FCCOAverage(num_items, 2, ema_rate=ema_rate)

    def risk(self, lists: Lists) -> Risk:
        plain = self.outer == "ndcg" and self.competitors == "all" and not self.in_logarithms
        whole = self.softness is None and self.average is None and self.length is None
        if self.k is not None and plain and whole:
            return Risk(self._value_at_the_top(lists, self.k))
        share = torch.ones_like(lists.positive_weight)
        updates: list[MemoryUpdate] = []
        times = torch.ones_like(lists.n_positives)  # how many items each one stands for
        if self.in_logarithms:
            discount = self._log_rank(lists) / math.log(2)
        else:
            rank = surrogate_rank(self.surrogate, lists, self.itself, self.competitors)
        if self.length is not None:
            size = _size(lists, self.length)
            others = (rank - self.itself) * (self.length - 1) / (size - 1).clamp_min(1)
            rank = self.itself + others
            times = self.length / size
            lists = _repeated(lists, times)
        if self.k is not None:
            # The highest item counts whole even if it stands for more than k.
            share = share_at_the_top(lists, times.clamp_min(self.k), self.softness).to(share.dtype)
        if self.average is not None:
            estimate = torch.stack([rank, share], dim=-1)
            u, updates = tracked(self.average, lists.item_ids, estimate, lists.present)
            rank, share = u.unbind(-1)
        if not self.in_logarithms:
            discount = torch.log2(1 + rank)
        return Risk(self._value(lists, share, discount), updates)

    def _value(self, lists: Lists, share: Tensor, discount: Tensor) -> Tensor:
        """The outer function of every list, of log₂(1 + g)."""
        if self.competitors == "all":
            gains = self._gains(lists)
        else:  # a list for every relevant item: its best discounted gain is its gain
            gains = lists.positive_weight * gains_of(_relevance(lists), self.gain)
            gains = gains / gains.sum(-1, keepdim=True)
        if self.outer == "ndcg":
            return 1 - (share * gains / discount).sum(-1).to(gains.dtype)
        total = gains.sum(-1)  # Σ gain/Z
        return ((gains * discount.log()).sum(-1) / total - total.log()).to(gains.dtype)

    def _value_at_the_top(self, lists: Lists, k: int) -> Tensor:
        """The value by the ranks where they count, at k items rather than at all."""
        share = share_at_the_top(lists, k)
        gains = share.to(lists.positive_weight.dtype) * self._gains(lists)
        if gains.shape[-1] > k:  # the others count for nothing; ties may share more than k places
            share, at = share.topk(_places(share, k), dim=-1)
            gains = gains.gather(-1, at)
        else:
            at = None
        rank = surrogate_rank(self.surrogate, lists, self.itself, at=at)
        return 1 - (gains / torch.log2(1 + rank)).sum(-1).to(gains.dtype)

    def _gains(self, lists: Lists) -> Tensor:
        """gain/Z of the relevant items by their weights, (lists, positives)."""
        if not lists.even:
            gains = normalized_gains(lists, self.gain, self.k)[:, : lists.positives.shape[-1]]
            return lists.positive_weight * gains
        return even_gains(lists, self.gain, self.k)

    def _log_rank(self, lists: Lists) -> Tensor:
        """log(1 + g) of every relevant item, for exponentials."""
        assert isinstance(self.surrogate, Exponential)
        alone = self.competitors == "negatives"
        lower, weight = lists.negatives, lists.negative_weight
        itself = torch.full_like(lists.positive_weight, 2.0)  # 1 + g less the sum
        if not alone:
            lower, weight = lists.scores, lists.weight
            itself = itself - lists.positive_weight.clamp_max(1)
        total = pair_logsumexp(
            Linear(0.0), lists.positives, lower, temperature=1 / self.surrogate.scale, weight=weight
        )
        return torch.logaddexp(total, itself.log().to(total.dtype))


def _size(lists: Lists, length: int) -> Tensor:
    """Mass of each list, (lists, 1), which cannot be more than the whole list has."""
    size = lists.weight.sum(-1, keepdim=True)
    if bool((size > length).any()):
        raise ValueError(
            f"length must be the number of items of each whole list, got {length} and "
            f"a list of {size.max().item():g} in the batch"
        )
    return size


def _repeated(lists: Lists, times: Tensor) -> Lists:
    """Repeat every item of a list ``times`` times, (lists, 1), by its weight."""
    return lists.replace(
        positive_weight=lists.positive_weight * times,
        negative_weight=lists.negative_weight * times,
    )


def surrogate_rank(
    surrogate: Surrogate,
    lists: Lists,
    itself: float = 1.0,
    competitors: Competitors = "all",
    *,
    at: Tensor | None = None,
) -> Tensor:
    """g_i = 1 + Σ_{j≠i} ℓ(s_i − s_j) at every relevant item, (lists, positives)   (EXM 2.3.4).

    The sum is over the whole list, or its negatives. The item itself counts as exactly 1 whatever
    ℓ(0) is, so that g ≥ 1 for every ℓ ≥ 0 and g is at least the rank where ℓ ≥ ℓ₀₁. Another
    ``itself`` replaces 1. ``at`` are places of relevant items, (lists, places), for the ranks of
    these alone.
    """
    if competitors == "negatives":
        weight = lists.negative_weight
        return pair_sum(surrogate, lists.positives, lists.negatives, weight=weight) + itself
    upper, weight = lists.positives, lists.positive_weight
    if at is not None:
        upper, weight = upper.gather(-1, at), weight.gather(-1, at)
    # Of an item of weight w the sum has w·ℓ(0): one of them is the item, the others its copies.
    if lists.even:
        return pair_sum(surrogate, upper, lists.scores) + (itself - surrogate.maximum(0, 0))
    own = itself - surrogate.maximum(0, 0) * weight.clamp_max(1)
    return pair_sum(surrogate, upper, lists.scores, weight=lists.weight) + own


@torch.no_grad()
def normalized_gains(lists: Lists, gain: Gain, k: int | None = None) -> Tensor:
    """gain(y)/Z of all items, positives first, with Z the discounted gain of the best order.

    Z is that of :func:`rankwise.metrics.ndcg` with the same options: at most ``k`` ranks count, and
    an item of weight 2 takes two of them. 0 where no gain is more than rounding.
    """
    relevance = lists.relevances.double()
    best = best_gain(relevance, lists.weight.double(), gain, k).unsqueeze(-1)
    return torch.where(best > 0, gains_of(relevance, gain) / best, 0).to(lists.weight.dtype)


@torch.no_grad()
def even_gains(lists: Lists, gain: Gain, k: int | None = None) -> Tensor:
    """The same of the relevant items alone, in lists whose items all count once."""
    gains = gains_of(_relevance(lists).double(), gain)
    ranks = gains.shape[-1] if k is None else min(k, gains.shape[-1])
    discounts = _discounts(ranks, gains.device)
    best = (gains.topk(ranks, dim=-1).values * discounts).sum(-1, keepdim=True)
    return torch.where(best > 0, gains / best, 0).to(lists.positive_weight.dtype)


@lru_cache(maxsize=32)
def _discounts(ranks: int, device: torch.device) -> Tensor:
    """1/log₂(1 + rank) of the first ranks."""
    return torch.arange(2, ranks + 2, dtype=torch.float64, device=device).log2().reciprocal()


def _places(share: Tensor, k: int) -> int:
    """How many relevant items may have a share of the first k of any list."""
    return max(k, int((share > 0).sum(-1).max()))


def _relevance(lists: Lists) -> Tensor:
    """Relevance of the relevant items."""
    return torch.ones_like(lists.positive_weight) if lists.relevance is None else lists.relevance
