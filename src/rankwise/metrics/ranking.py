"""Lists sorted by score and cut into levels: the input of every metric.

A *level* is a run of items that the ranking does not separate. Metrics are functions of how much
positive and negative mass each level holds, so none of them ever sees a tie or an input order, and
a resample of the items is nothing but other masses on the same levels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from rankwise.metrics.inputs import Items, Ties

MOST_RANKS = 1 << 26  # whose numbers take half a gigabyte
_LONG = 2048  # items of one list from which numpy, which sorts in vector registers, is faster


@dataclass(frozen=True)
class Ranking:
    """A batch of lists by descending score; made by :func:`rank_items`.

    Items are the columns of the first four fields. The masses per level broadcast: one ordering
    carries any number of rows of weights (``replace(ranking, weight=…)``).
    """

    scores: Tensor  # (rows, items) descending
    target: Tensor  # (rows, items) float64
    order: Tensor  # (rows, items) position of the item in the input
    level: Tensor  # (rows, items) level of the item, 0 at the top
    levels: int
    tied: bool  # whether any list has two items on one level
    weight: Tensor  # (rows or more, items) float64, 0 for an item that is absent

    def per_level(self, amount: Tensor) -> Tensor:
        """Return Σ weight · amount over the items of each level, (rows, levels)."""
        values = self.weight * amount
        if not self.tied:
            return values
        sums = values.new_zeros(len(values), self.levels)
        return sums.scatter_add(-1, self.level.expand_as(values), values)

    def of_target(self, value: int) -> Tensor:
        """Return the mass of the items with this target on each level."""
        return self.per_level((self.target == value).double())

    @cached_property
    def positives(self) -> Tensor:
        """Mass of positives on each level."""
        return self.per_level(self.target)

    @cached_property
    def negatives(self) -> Tensor:
        """Mass of negatives on each level."""
        return self.per_level(1 - self.target)

    @cached_property
    def mass(self) -> Tensor:
        """Mass of all items on each level."""
        return self.per_level(torch.ones_like(self.target))

    @cached_property
    def n_positives(self) -> Tensor:
        """Mass of positives of each list, (rows, 1)."""
        return self.positives.sum(-1, keepdim=True)

    @cached_property
    def n_negatives(self) -> Tensor:
        """Mass of negatives of each list, (rows, 1)."""
        return self.negatives.sum(-1, keepdim=True)

    @cached_property
    def counts(self) -> Tensor:
        """Whether all weights of a list are whole numbers: its masses are counts, (rows, 1)."""
        return (self.weight == self.weight.round()).all(-1, keepdim=True)

    def require_counts(self, metric: str) -> None:
        """Raise unless weights are whole: some metrics use ranks of single items."""
        if not bool(self.counts.all()):
            raise ValueError(
                f"weight must be whole numbers for {metric}: ranks are counts of items"
            )


def require_ranks(
    count: float, metric: str, most: int = MOST_RANKS, remedy: str = "smaller weights"
) -> int:
    """Return a number of ranks; raise where weights make it too large to take each of them."""
    if count > most:
        raise ValueError(
            f"weight must add up to at most {most} in a list for {metric}, which takes a number "
            f"for each rank, got {count:.4g}; pass {remedy}"
        )
    return math.ceil(count)


def rank_items(
    scores: Tensor, target: Tensor, weight: Tensor | None = None, ties: Ties = "standard"
) -> Ranking:
    """Sort lists, the rows of ``scores``, and cut them into levels.

    ``ties="standard"``: items with equal scores share a level. ``"against"``: a level holds one
    target only and the lower target comes first, which is the worst order of the tied items.
    """
    order = None
    if ties == "against":
        order = target.argsort(dim=-1, stable=True)
        scores = scores.gather(-1, order)
    # The second sort must keep the order by target among equal scores.
    scores, by_score = _descending(scores, stable=ties == "against")
    order = by_score if order is None else order.gather(-1, by_score)
    target = target.gather(-1, order).double()
    new = scores[:, 1:] != scores[:, :-1]
    if ties == "against":
        new |= target[:, 1:] != target[:, :-1]
    level = torch.nn.functional.pad(new.long().cumsum(-1), (1, 0))[:, : scores.shape[-1]]
    fewest, most = (int(x) + 1 for x in level[:, -1].aminmax()) if level.numel() else (0, 0)
    weight = torch.ones_like(target) if weight is None else weight.gather(-1, order).double()
    return Ranking(scores, target, order, level, most, fewest < scores.shape[-1], weight)


def _descending(scores: Tensor, *, stable: bool) -> tuple[Tensor, Tensor]:
    """Sort rows; unless ``stable``, items with equal scores may be in any order."""
    floats = scores.dtype in (torch.float32, torch.float64)
    long = len(scores) == 1 and scores.shape[1] >= _LONG and scores.device.type == "cpu"
    if stable or not floats or not long:
        return scores.sort(dim=-1, descending=True, stable=True)
    order = torch.from_numpy(np.argsort(-scores.detach().numpy(), axis=-1))
    return scores.gather(-1, order), order


def rank_present(items: Items, ties: Ties = "standard") -> Ranking:
    """Rank one list without its absent items."""
    scores, target, weight = items.scores, items.target, items.weight
    if weight is not None:
        present = weight > 0
        scores, target, weight = scores[present], target[present], weight[present][None]
    return rank_items(scores[None], target[None], weight, ties)


def mass_above(mass: Tensor) -> Tensor:
    """Return the mass on the levels strictly above each level."""
    through = mass.cumsum(-1)
    return torch.nn.functional.pad(through, (1, 0))[..., :-1]


def band(mass: Tensor, low: Tensor | float, high: Tensor | float) -> Tensor:
    """Return the part of each level's mass with rank in (low, high], counted from the top."""
    through, above = mass.cumsum(-1), mass_above(mass)
    low, high = (torch.as_tensor(x, dtype=mass.dtype, device=mass.device) for x in (low, high))
    # Clamped alike, the parts of neighbors add up, and so do their derivatives at a cut.
    return through.clamp(low, high) - above.clamp(low, high)


def ratio(part: Tensor, whole: Tensor) -> Tensor:
    """Return part / whole, 0 where the whole is 0 or less, with a derivative that is finite."""
    some = whole > 0
    return torch.where(some, part / torch.where(some, whole, 1.0), 0.0)
