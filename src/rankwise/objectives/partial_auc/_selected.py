"""Selection of the pairs of a partial AUC: negatives by rank, the lowest positives."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from rankwise.lists import Lists
from rankwise.memory import MemoryUpdate
from rankwise.metrics.auc import SLACK
from rankwise.objectives._selection import between, gathered, hardest, has_whole_weights
from rankwise.objectives.ap.formulas import false_positive_rate
from rankwise.pairs import Surrogate
from rankwise.pairs.rows import accumulating


def ranked_negatives(
    lists: Lists, min_fpr: float, max_fpr: float, *, rounded: bool = True
) -> Lists:
    """Return the lists with only the negatives ranked k₁+1 … k₂ from the top.

    k₁ = ⌈n⁻·min_fpr⌉ and k₂ = ⌊n⁻·max_fpr⌋, at least one negative, as
    in :func:`rankwise.metrics.partial_auroc`; where weights are not whole numbers, or without
    ``rounded``, the mass from n⁻·min_fpr to n⁻·max_fpr, the last item in part. The cost
    of a sum over pairs is then that of the selected negatives.
    """
    n = accumulating(lists.negative_weight).sum(-1, keepdim=True)
    low, high = n * min_fpr, n * max_fpr
    if rounded:
        counts = has_whole_weights(lists)
        first = (low - SLACK).ceil().minimum(n - 1)
        last = (high + SLACK).floor().maximum(first + 1)
        low, high = first.where(counts, low), last.where(counts, high)
    part = between(lists.negatives.detach(), lists.negative_weight, low, high)
    negatives, weight = gathered(lists.negatives, part)
    return lists.replace(negatives=negatives, negative_weight=weight)


class SelectedNegatives(nn.Module):
    """mean_j ℓ(s_i − s_j) at every positive, over the negatives in a range of ranks."""

    def __init__(
        self, surrogate: Surrogate, min_fpr: float, max_fpr: float, *, rounded: bool
    ) -> None:
        super().__init__()
        self.surrogate, self.min_fpr, self.max_fpr = surrogate, min_fpr, max_fpr
        self.rounded = rounded

    def forward(self, lists: Lists) -> tuple[Tensor, list[MemoryUpdate]]:
        """Return one value for each positive, (lists, positives)."""
        selected = ranked_negatives(lists, self.min_fpr, self.max_fpr, rounded=self.rounded)
        return false_positive_rate(self.surrogate, selected), []


class SelectedPositives(nn.Module):
    """The mean of one value per positive over the ⌈n⁺(1 − min_tpr)⌉ lowest positives.

    As in :func:`rankwise.metrics.two_way_partial_auroc`, with ``rounding="up"``; ``"down"`` is
    ⌊n⁺(1 − min_tpr)⌋, at least 1. Over the mass n⁺(1 − min_tpr) itself where weights are not whole
    numbers, or with None.
    """

    def __init__(self, min_tpr: float, *, rounding: Literal["up", "down"] | None) -> None:
        super().__init__()
        self.min_tpr, self.rounding = min_tpr, rounding

    def forward(self, values: Tensor, lists: Lists) -> tuple[Tensor, list[MemoryUpdate]]:
        """Return one value for each list."""
        mass = accumulating(lists.positive_weight).sum(-1, keepdim=True) * (1 - self.min_tpr)
        if self.rounding is not None:
            up = self.rounding == "up"
            whole = (mass - SLACK).ceil() if up else (mass + SLACK).floor().clamp_min(1)
            mass = whole.where(has_whole_weights(lists), mass)
        part = hardest(lists.positives.detach(), lists.positive_weight, mass, largest=False)
        return (part * values).sum(-1) / part.sum(-1), []
