"""Metrics of the first ranks of many lists, where what stands on each rank is known.

``hits`` is (lists, ranks): 1 where a relevant item stands, ranks from the first; ``relevant`` is
how many there are in all, on these ranks or below them. Nothing is tied.
"""

from __future__ import annotations

import torch
from torch import Tensor


def precision(hits: Tensor, k: int) -> Tensor:
    """Relevant among the first k, over k."""
    return hits[:, :k].sum(1) / k


def recall(hits: Tensor, relevant: Tensor, k: int) -> Tensor:
    """Relevant among the first k, over all that are relevant."""
    return hits[:, :k].sum(1) / relevant


def hit(hits: Tensor, k: int) -> Tensor:
    """Whether there is a relevant item among the first k."""
    return (hits[:, :k].sum(1) > 0).to(hits.dtype)


def average_precision(hits: Tensor, best: Tensor, k: int | None = None) -> Tensor:
    """Σ_{r ≤ k} hit_r · precision@r / ``best``, the number of hits that is divided by."""
    first = hits[:, :k]
    ranks = torch.arange(1, first.shape[1] + 1, dtype=hits.dtype)
    return (first * first.cumsum(1) / ranks).sum(1) / best


def reciprocal_rank(hits: Tensor, k: int | None = None) -> Tensor:
    """1 over the first rank with a relevant item, 0 where there is none among the first k."""
    hits = hits[:, :k]
    first = hits.argmax(1)
    found = hits.gather(1, first.unsqueeze(1)).squeeze(1)
    return found / (1 + first)


def dcg(gains: Tensor, k: int | None = None) -> Tensor:
    """Σ_{r ≤ k} gain_r / log₂(1 + r)."""
    first = gains[:, :k]
    ranks = torch.arange(1, first.shape[1] + 1, dtype=gains.dtype)
    return (first / (1 + ranks).log2()).sum(1)
