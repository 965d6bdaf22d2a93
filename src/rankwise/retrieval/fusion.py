"""Fusion of the scores of several systems for the same items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import require_one_of
from rankwise.metrics.inputs import Array, from_tensor, to_tensor

Method = Literal["rrf", "combsum", "combmnz"]
Normalize = Literal["min_max", "none"]
METHODS = ("rrf", "combsum", "combmnz")
NORMALIZE = ("min_max", "none")


def fuse(
    scores: Sequence[Array],
    *,
    method: Method = "rrf",
    groups: Array | None = None,
    k: float = 60.0,
    normalize: Normalize = "min_max",
) -> Array:
    """Combine the scores of several systems into one score for every item.

    - ``"rrf"``, reciprocal rank fusion: Σ_systems 1/(k + rank). Tied items share the mean of the
      terms of their ranks, whatever the order of the input.
    - ``"combsum"``: the sum of the scores.
    - ``"combmnz"``: the sum of the scores, times the number of systems that retrieved the item.

    Scores are normalized per list and system for the last two: (s − min)/(max − min), and 1 where
    all scores are equal. An item that a system did not retrieve, NaN, gets nothing from it.

    Args:
        scores: One array per system, of the same shape: the last dimension is the list, leading
            dimensions are independent lists. NaN where a system did not retrieve an item.
        method: How the scores are combined.
        groups: Integer ids that say which list an item belongs to, for one-dimensional scores.
        k: Constant of ``"rrf"``; the larger, the less the first ranks count.
        normalize: ``"min_max"``, or ``"none"`` for systems whose scores are on one scale.

    Returns:
        The fused scores, of the same shape; 0 for an item that no system retrieved.

    Raises:
        ValueError: Shapes differ, an option is unknown, or a score to normalize is infinite.

    Example:
        >>> import torch
        >>> from rankwise.retrieval import fuse
        >>> words = torch.tensor([12.0, 7.0, 3.0])
        >>> vectors = torch.tensor([0.2, 0.9, float("nan")])
        >>> fuse([words, vectors], k=1)  # 1/2 + 1/3, 1/3 + 1/2, 1/4
        tensor([0.8333, 0.8333, 0.2500], dtype=torch.float64)
        >>> fuse([words, vectors], method="combmnz")  # 2 · (1 + 0), 2 · (4/9 + 1), 1 · 0
        tensor([2.0000, 2.8889, 0.0000], dtype=torch.float64)

    Reference:
        Cormack, Clarke and Buettcher 2009, "Reciprocal Rank Fusion Outperforms Condorcet and
        Individual Rank Learning Methods"; Fox and Shaw 1994, "Combination of Multiple Searches";
        Lee 1997, "Analyses of Multiple Evidence Combination".
    """
    require_one_of("method", method, METHODS)
    require_one_of("normalize", normalize, NORMALIZE)
    if not k > 0:
        raise ValueError(f"k must be above 0, got {k!r}; 60 is the value of the paper")
    if not len(scores):
        raise ValueError("scores must hold the array of at least one system, got none")
    systems = [to_tensor(each).double() for each in scores]
    first = systems[0]
    for place, each in enumerate(systems):
        if each.shape != first.shape or each.ndim == 0:
            raise ValueError(
                f"scores must be arrays of one shape with at least one dimension, got "
                f"{tuple(first.shape)} and, in place {place}, {tuple(each.shape)}"
            )
    lists = _lists(first, groups)
    total = torch.zeros_like(first.flatten())
    retrieved = torch.zeros_like(total)
    for each in systems:
        flat = each.flatten()
        there = ~flat.isnan()
        own, own_lists = flat[there], lists[there]
        if method == "rrf":
            order = _order(each, None if groups is None else lists)
            order = order[there[order]]
            total[order] += _reciprocal_ranks(flat[order], lists[order], k)
        else:
            total[there] += _normalized(own, own_lists) if normalize == "min_max" else own
        retrieved += there
    fused = (total * retrieved if method == "combmnz" else total).reshape(first.shape)
    return from_tensor(fused, scores[0])


def _lists(first: Tensor, groups: object | None) -> Tensor:
    """Return the list of every item, numbered from 0."""
    if groups is None:
        length = first.shape[-1]
        rows = torch.arange(first.numel() // max(1, length), device=first.device)
        return rows.repeat_interleave(length)
    ids = to_tensor(groups)
    if ids.shape != first.shape or ids.ndim != 1 or ids.is_floating_point():
        raise ValueError(
            "groups must be integer ids for one-dimensional scores, of their shape "
            f"{tuple(first.shape)}, got {ids.dtype} of shape {tuple(ids.shape)}"
        )
    _, lists = torch.unique(ids, return_inverse=True)
    numbered: Tensor = lists.to(first.device)
    return numbered


def _order(scores: Tensor, lists: Tensor | None) -> Tensor:
    """Return the places of the items list by list, the highest score first and NaN last."""
    if lists is not None:
        order = (-scores).argsort()
        return order[lists[order].argsort(stable=True)]
    rows = (-scores).reshape(-1, scores.shape[-1]) if scores.numel() else scores.reshape(0, 1)
    starts = torch.arange(len(rows), device=scores.device) * rows.shape[-1]
    return (rows.argsort(dim=-1) + starts[:, None]).flatten()


def _reciprocal_ranks(scores: Tensor, lists: Tensor, k: float) -> Tensor:
    """Return 1/(k + rank) of items as they are ranked, for ties the mean of their ranks' terms."""
    place = torch.arange(len(scores), device=scores.device)
    opens = torch.ones_like(place, dtype=torch.bool)
    opens[1:] = lists[1:] != lists[:-1]
    above = place - place[opens][opens.cumsum(0) - 1]  # items of the list above
    opens[1:] |= scores[1:] != scores[:-1]
    level = opens.cumsum(0) - 1
    size = torch.bincount(level)[level] if len(level) else place
    before = (above[opens][level] + k).double()
    # Σ_{r=1..m} 1/(before + r), by harmonic numbers.
    shared = (torch.digamma(before + size + 1) - torch.digamma(before + 1)) / size
    return torch.where(size == 1, 1 / (before + 1), shared)


def _normalized(scores: Tensor, lists: Tensor) -> Tensor:
    """Return (s − min)/(max − min) over the list of every item."""
    if not bool(scores.isfinite().all()):
        raise ValueError(
            "scores must be finite to be normalized, got an infinite one; take method='rrf', which "
            "uses ranks"
        )
    count = int(lists.max()) + 1 if len(lists) else 0
    ends = [
        scores.new_zeros(count).scatter_reduce(0, lists, scores, reduce, include_self=False)[lists]
        for reduce in ("amin", "amax")
    ]
    width = ends[1] - ends[0]
    return torch.where(width > 0, (scores - ends[0]) / torch.where(width > 0, width, 1.0), 1.0)
