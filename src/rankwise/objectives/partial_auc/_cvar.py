"""Partial AUC as a conditional value at risk, with thresholds that the batches share: SOPA."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise.checks import require_positive
from rankwise.lists import Lists
from rankwise.memory import DeferredAverage, FCCOAverage, MemoryUpdate
from rankwise.memory.fcco import tracked
from rankwise.objectives._selection import hardest
from rankwise.objectives.ap.formulas import false_positive_rate
from rankwise.objectives.partial_auc._selected import ranked_negatives
from rankwise.pairs import Hinge, SquaredHinge, Surrogate, ZeroOne, pair_sum
from rankwise.pairs.rows import accumulating


def require_hinge(surrogate: Surrogate) -> Hinge | SquaredHinge:
    """Raise on other surrogates: only the excess of these two is again a sum of the engine."""
    if not isinstance(surrogate, Hinge | SquaredHinge):
        raise ValueError(
            f"surrogate must be Hinge or SquaredHinge for form='cvar', got {surrogate!r}; "
            "form='direct' takes any"
        )
    return surrogate


def excess(
    surrogate: Hinge | SquaredHinge, lists: Lists, threshold: Tensor
) -> tuple[Tensor, Tensor]:
    """Return mean_{j∈N} (ℓ_ij − λ_i)₊ and mean_{j∈N} 1[ℓ_ij > λ_i] at every positive, in n log n.

    ``threshold`` is λ ≥ 0, (lists, positives). The hinge (c − x)₊ is above λ by (c − x − λ)₊: a
    hinge of the positive moved up by λ. The squared hinge, with t = √λ and z = (c − x − t)₊ the
    hinge of the positive moved up by t, is above it by (z + t)² − t² = z² + 2tz.
    """
    squared = isinstance(surrogate, SquaredHinge)
    # In the precision of the sums: half an ulp of a half-precision score is more than a threshold.
    move = accumulating(threshold).sqrt() if squared else accumulating(threshold)
    upper, lower = accumulating(lists.positives) + move, accumulating(lists.negatives)
    weight = accumulating(lists.negative_weight)
    n = weight.sum(-1, keepdim=True)
    total = pair_sum(surrogate, upper, lower, weight=weight)
    if squared:
        total = total + 2 * move * pair_sum(Hinge(surrogate.margin), upper, lower, weight=weight)
    with torch.no_grad():  # all but those with s_j ≤ u_i − c
        within = pair_sum(ZeroOne(), surrogate.margin - upper, -lower, weight=weight)
    return total / n, 1 - within / n


class Thresholds(DeferredAverage):
    """λ by id, one step at a visit down λ + (1/β)·mean(ℓ − λ)₊   (SOPA, Zhu et al. 2022).

    λ ← λ − η(1 − (1/β)·mean 1[ℓ > λ]), with ``level`` β and ``step`` η; it settles where the share
    β of all losses, of all batches, is above it. An id starts at the quantile of the first batch
    that shows it. Losses are not negative, so neither is λ. Several steps of one id are averaged.
    """

    def __init__(self, num_items: int, *, level: float, step: float) -> None:
        require_positive("threshold_rate", step)
        super().__init__(num_items, ema_rate=1.0)
        self.level, self.step = level, step

    def known(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return λ of ``ids`` (…) before this call, and whether they were ever visited."""
        places = self.places(ids)
        return self.value[places].squeeze(-1), self.seen[places]

    @torch.no_grad()
    def descend(self, ids: Tensor, start: Tensor, beyond: Tensor, present: Tensor) -> MemoryUpdate:
        """Return one step for each id that is present, or its ``start`` where it has none yet.

        ``beyond`` is the share of the losses above λ. All are of the shape of ``ids``.
        """
        threshold, seen = self.known(ids)
        stepped = (threshold - self.step * (1 - beyond / self.level)).clamp_min(0)
        next_value = torch.where(seen, stepped.to(start.dtype), start)
        return MemoryUpdate(self, ids[present], next_value[present].unsqueeze(-1))


class CVaROverNegatives(nn.Module):
    """λ_i + (1/β)·mean_{j∈N} (ℓ_ij − λ_i)₊ at every positive, λ_i remembered by item.

    At the first visit of an item it is the minimum over λ_i in the batch: the mean of the largest
    losses, a share β of them. A loss that falls with s_i − s_j has these at the highest negatives.
    """

    def __init__(self, surrogate: Surrogate, level: float, num_items: int, step: float) -> None:
        super().__init__()
        self.surrogate = require_hinge(surrogate)
        self.level = level
        self.thresholds = Thresholds(num_items, level=level, step=step)

    def forward(self, lists: Lists) -> tuple[Tensor, list[MemoryUpdate]]:
        """Return one value for each positive, (lists, positives)."""
        assert lists.item_ids is not None
        present = lists.positive_weight > 0
        threshold, seen = self.thresholds.known(lists.item_ids)
        above = beyond = start = first = torch.zeros_like(threshold)
        # In the first epoch no positive has a threshold, afterwards all have one.
        if (seen & present).any():
            above, beyond = excess(self.surrogate, lists, threshold)
        if (present & ~seen).any():
            start, first = self._at_first(lists)
        update = self.thresholds.descend(lists.item_ids, start, beyond, present)
        value = torch.where(seen, threshold + above / self.level, first)
        return value.to(torch.promote_types(lists.positives.dtype, torch.float32)), [update]

    def _at_first(self, lists: Lists) -> tuple[Tensor, Tensor]:
        """Return the optimal λ of every positive in this batch, and its value."""
        hard = ranked_negatives(lists, 0.0, self.level, rounded=False)
        least = hard.negatives.detach().masked_fill(hard.negative_weight == 0, torch.inf)
        gap = accumulating(lists.positives.detach()) - accumulating(least.amin(-1, keepdim=True))
        return self.surrogate.value(gap), false_positive_rate(self.surrogate, hard)


class CVaROverPositives(nn.Module):
    """ν + (1/α)·mean_{i∈P} (u_i − ν)₊ of one value per positive, one ν remembered for all lists.

    In the first batch it is the minimum over ν: the mean of the largest values, a share α of them.
    The mean of (·)₊ over batches is not (·)₊ of the mean: u_i is the average of the values that
    item i had over the batches, at the ``ema_rate``, and the gradient that of FCCO.
    """

    def __init__(self, level: float, num_items: int, *, ema_rate: float, step: float) -> None:
        super().__init__()
        self.level = level
        self.average = FCCOAverage(num_items, ema_rate=ema_rate)
        self.thresholds = Thresholds(1, level=level, step=step)

    def forward(self, values: Tensor, lists: Lists) -> tuple[Tensor, list[MemoryUpdate]]:
        """Return one value for each list."""
        values, updates = tracked(self.average, lists.item_ids, values, lists.present)
        mass = accumulating(lists.positive_weight).sum(-1, keepdim=True) * self.level
        part = hardest(values.detach(), lists.positive_weight, mass)
        first = (part * values).sum(-1) / part.sum(-1)
        start = values.detach().masked_fill(part == 0, torch.inf).amin(-1)
        key = torch.zeros_like(start, dtype=torch.long)
        threshold, seen = self.thresholds.known(key)
        above = values - threshold.to(values.dtype).unsqueeze(-1)
        beyond = lists.mean_over_positives((above > 0).to(values.dtype))
        everyone = torch.ones_like(key, dtype=torch.bool)
        step = self.thresholds.descend(key, start, beyond, everyone)
        later = threshold + lists.mean_over_positives(above.clamp_min(0)) / self.level
        return torch.where(seen, later.to(first.dtype), first), [*updates, step]
