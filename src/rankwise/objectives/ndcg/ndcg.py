"""NDCG and NDCG@k by a surrogate of the rank, with each item's own rank followed on request."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.checks import require_count, require_one_of, require_positive
from rankwise.lists import Lists
from rankwise.memory import FCCOAverage, MemoryUpdate
from rankwise.metrics.dcg import Gain
from rankwise.objectives.base import Objective, Reduction, Risk
from rankwise.objectives.ndcg._formulas import (
    normalized_gains,
    share_at_the_top,
    surrogate_rank,
)
from rankwise.pairs import Logistic, Surrogate

__all__ = ["NDCG"]


class NDCG(Objective):
    """1 − (1/Z) Σ_{i relevant} gain(y_i)/log₂(1 + g_i), g_i = 1 + Σ_{j≠i} ℓ(s_i − s_j).

    EXM 2.3.4. ``target`` holds relevances ≥ 0, gain(y) is 2^y − 1 or y (``"linear"``), Z is the
    metric's: the best that an order can reach. j runs over the whole list, and the item itself
    counts as exactly 1 whatever ℓ(0) is; so g is at least the rank where ℓ ≥ ℓ₀₁, as with the
    published ``SquaredHinge(1.0)``, and the loss then bounds 1 − NDCG from above. The default ℓ
    bounds nothing and costs two to four times as much on long lists; it was chosen by the held-out
    queries of ``benchmarks/ranking.py``, where it led by little. ``Sigmoid`` makes it ApproxNDCG.

    ``k`` is for NDCG@k: only the relevant items among the first k of their list count (the selector
    of K-SONG, Qiu et al. 2022, with its threshold, the k-th highest score, found exactly; tied
    items share what is left there), and Z is that of k ranks. A bound is then one of 1 − NDCG@k.
    Relevant items below the first k are not pulled up: on long lists begin with ``k=None``, or give
    the selector a ``softness`` T: an item then counts by σ((s − λ)/T), with λ such that k items are
    counted in all, and both have a gradient (Eq. 5 there, with λ found exactly and T for both of
    its temperatures). T is in units of the scores; nothing is bounded.

    Where batches show a part of their lists (SONG): ``length`` is the number of items of each whole
    list, of which the batch has a random n; ranks are then 1 + (g − 1)(length − 1)/(n − 1), and
    each item stands for length/n in Z. ``num_items``, the number of items in the data set, lets
    every relevant item follow its own g over the batches at the rate ``ema_rate``, and with ``k``
    how much of it is in the first k; ``item_ids`` is then one id per item (one for each pair of
    query and document where documents are shared).

    An item of whole weight w is w items. A fraction of an item is one item in its own g.
    """

    graded: ClassVar[bool] = True

    def __init__(
        self,
        k: int | None = None,
        surrogate: Surrogate = Logistic(1.0),  # noqa: B008  (surrogates are frozen)
        gain: Gain = "exponential",
        *,
        softness: float | None = None,
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
        self.softness = softness
        self.k, self.surrogate, self.gain, self.length = k, surrogate, gain, length
        self.average: FCCOAverage | None = None
        if num_items is not None:
            self.memory_by, self.memory_size = "item", num_items
            self.average = FCCOAverage(num_items, 2, ema_rate=ema_rate)

    def risk(self, lists: Lists) -> Risk:
        rank = surrogate_rank(self.surrogate, lists)
        times = torch.ones_like(lists.n_positives)  # how many items each one stands for
        if self.length is not None:
            size = _size(lists, self.length)
            rank = 1 + (rank - 1) * (self.length - 1) / (size - 1).clamp_min(1)
            times = self.length / size
            lists = _repeated(lists, times)
        share = torch.ones_like(rank)
        updates: list[MemoryUpdate] = []
        if self.k is not None:
            # The highest item counts whole even if it stands for more than k.
            share = share_at_the_top(lists, times.clamp_min(self.k), self.softness)
            share = share.to(rank.dtype)
        if self.average is not None:
            assert lists.item_ids is not None
            estimate, present = torch.stack([rank, share], dim=-1), lists.positive_weight > 0
            u, update = self.average.track(lists.item_ids, estimate, present)
            rank, share = u.unbind(-1)
            updates.append(update)
        gains = normalized_gains(lists, self.gain, self.k)[:, : rank.shape[-1]]
        risks = 1 - (lists.positive_weight * share * gains / torch.log2(1 + rank)).sum(-1)
        return Risk(risks, updates)


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
    """Every item of a list so many times, (lists, 1)."""
    return replace(
        lists,
        positive_weight=lists.positive_weight * times,
        negative_weight=lists.negative_weight * times,
    )
