"""The last rank that the value of a metric depends on: resamples need no more of a long list."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.metrics.ranking import Ranking


def likely_depth(depth: float, square: Tensor, most: float) -> Tensor:
    """Return the mass whose resamples are practically never less than ``depth``.

    Resampled, a mass of items with squared weights that sum to ``square`` has √square as standard
    deviation; ``most`` is the weight of one item.
    """
    return depth + 9 * square.sqrt() + 40 * most


def first_k(ranking: Ranking, k: int | None) -> float:
    """Return k; without one, every rank matters."""
    return math.inf if k is None else float(k)


def first_r(ranking: Ranking) -> float:
    """Return the number of positives."""
    return float(ranking.n_positives)


def first_positives(ranking: Ranking) -> float:
    """Return a rank through which every resample has a positive."""
    return _rank_of(ranking.mass, (ranking.positives, likely_depth(1, torch.ones(()), 1)))


def top_of_both(ranking: Ranking, k: int) -> float:
    """Return a rank through which every resample has k positives and k negatives."""
    enough = likely_depth(k, torch.tensor(float(k)), 1)
    return _rank_of(ranking.mass, (ranking.positives, enough), (ranking.negatives, enough))


def first_share(mass: Tensor, part: Tensor, share: float) -> float:
    """Return a rank through which every resample has a share of one class."""
    wanted = share * part.sum()
    return _rank_of(mass, (part, likely_depth(float(wanted), wanted, 1)))


def _rank_of(mass: Tensor, *wanted: tuple[Tensor, Tensor]) -> float:
    """Return the rank through which every one of the masses is as great as wanted."""
    level = max(int((part[0].cumsum(-1) < enough).sum()) for part, enough in wanted)
    return float(mass[0, : level + 1].sum())
