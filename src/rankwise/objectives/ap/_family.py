"""Base of the losses for average precision: the prior, the annealed gain and the scale."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import is_finite, require_count, require_one_of
from rankwise.lists import Lists
from rankwise.memory import DeferredAverage, MemoryUpdate
from rankwise.objectives._arguments import Reduction
from rankwise.objectives._scaled import ScaledObjective, ScoreScale
from rankwise.objectives.ap.formulas import weighted_median

GainMode = Literal["annealed", "fixed"]
Outer = float | Literal["ap", "log", "log_to_ap"]
Prior = float | Tensor | None

_EMA_RATE = 0.1  # of the running gain


class PrecisionObjective(ScaledObjective):
    """Base class of losses σ(k · ratio) with the gain k = (1−π)/π of the prior π.

    ``prior``: the share of positives in the data set, a number or one per list; None takes that
    of each list itself. ``gain="fixed"`` is the printed gain. On an untrained model
    σ(x) = x/(1+x) is then flat and training stalls; ``"annealed"`` takes
    k = min((1−π)/π, 1/median_i ratio_i), which is the printed gain again once the median positive
    has a precision above one half. ``score_scale="auto"`` divides the scores by their spread, so
    that τ is in units of it; a number divides by that number.

    ``outer`` is the power q of :func:`~rankwise.functional.precision_loss`, which takes the place
    of σ: ``"ap"`` is 1, ``"log"`` 0, and ``"log_to_ap"`` goes from 0 to 1 in the first
    ``outer_steps`` calls of training, which the buffer ``outer_step`` counts.

    With ``running`` the gain and the spread are smoothed over the batches and live in buffers,
    ``gain_average`` (log k by list) and ``spread``; without, they are those of the batch.
    """

    prior: Tensor | None
    outer_step: Tensor

    def __init__(
        self,
        prior: Prior,
        *,
        gain: GainMode,
        score_scale: ScoreScale,
        outer: Outer = "ap",
        outer_steps: int | None = None,
        num_lists: int = 1,
        running: bool = True,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(score_scale, running=running, reduction=reduction)
        _check_outer(outer, outer_steps)
        self.outer, self.outer_steps = outer, outer_steps
        if outer_steps is not None:
            self.register_buffer("outer_step", torch.zeros((), dtype=torch.long))
        require_one_of("gain", gain, ("annealed", "fixed"))
        self.gain, self.memory_size = gain, num_lists
        checked = _checked_prior(prior, num_lists)
        self.register_buffer("prior", checked, persistent=False)
        self.odds: float | None = None  # (1−π)/π where one prior is that of all lists
        if checked is not None and checked.dim() == 0:
            self.odds = (1 - checked.item()) / checked.item()
        averaged = running and gain == "annealed"
        self.gain_average = DeferredAverage(num_lists, ema_rate=_EMA_RATE) if averaged else None

    @property
    def multiplier(self) -> Tensor | None:
        """The running gain k of every list, for the log; None before the first batch."""
        if self.gain_average is None or not bool(self.gain_average.seen.any()):
            return None
        return self.gain_average.value.squeeze(1).exp()

    @property
    def power(self) -> float:
        """The power q of the precision in the loss, as it is now."""
        if self.outer_steps is not None:
            return min(1.0, int(self.outer_step) / self.outer_steps)
        return {"ap": 1.0, "log": 0.0}[self.outer] if isinstance(self.outer, str) else self.outer

    def update_memories(self, updates: list[MemoryUpdate]) -> None:
        super().update_memories(updates)
        if self.outer_steps is not None and self.training:
            self.outer_step += 1

    def full_gain(self, lists: Lists) -> Tensor | float:
        """Return (1−π)/π of every list, (lists, 1), or one number for all of them."""
        if self.prior is None:
            return lists.negative_mass / lists.positive_mass
        if self.odds is not None:
            return self.odds
        prior = self.prior.to(lists.n_positives)
        if prior.dim() and lists.list_ids is not None:
            prior = prior[lists.list_ids].unsqueeze(-1)
        return ((1 - prior) / prior).expand_as(lists.n_positives)

    def gain_of(
        self, lists: Lists, ratio: Tensor, share: Tensor | None = None
    ) -> tuple[Tensor, list[MemoryUpdate]]:
        """Return the gain k of every list, (lists, 1), from the ratios of its positives.

        The updates are those of the running gain. ``share`` is how much of each positive counts.
        """
        full = self.full_gain(lists)
        if self.gain == "fixed":
            if isinstance(full, Tensor):
                return full, []
            return lists.positive_weight.new_full((lists.positives.shape[0], 1), full), []
        if share is not None:
            median = weighted_median(ratio.detach(), lists.positive_weight * share.detach())
        elif lists.even:
            median = ratio.detach().nanmedian(-1, keepdim=True).values
        else:
            median = weighted_median(ratio.detach(), lists.positive_weight)
        # A median of 0 is a ranking without errors: 1/0 = ∞, no need to anneal. Nor for NaN.
        inverse = median.reciprocal()
        gain = torch.where(inverse < full, inverse, full)
        if self.gain_average is None:
            return gain, []
        log_gain = gain.log()
        smooth = self.gain_average.preview(lists.ids, log_gain).exp().to(gain.dtype)
        update = MemoryUpdate(self.gain_average, lists.ids, log_gain)
        return smooth.clamp(max=full), [update]


def _check_outer(outer: Outer, steps: int | None) -> None:
    if isinstance(outer, str):
        require_one_of("outer", outer, ("ap", "log", "log_to_ap"))
    elif not (is_finite(outer) and 0 <= outer <= 1):
        raise ValueError(
            f'outer must be "ap", "log", "log_to_ap" or a power in [0, 1], got {outer!r}'
        )
    if (outer == "log_to_ap") != (steps is not None):
        raise ValueError(
            'outer_steps must be given with outer="log_to_ap", and only then, got '
            f"outer={outer!r} and outer_steps={steps!r}"
        )
    if steps is not None:
        require_count("outer_steps", steps)


def _checked_prior(prior: Prior, lists: int) -> Tensor | None:
    require_count("num_lists", lists)
    if prior is None:
        return None
    several = f" or {lists} of them, one per list" if lists > 1 else ""
    wrong = ValueError(
        f"prior must be None or a number in (0, 1){several}, got {prior!r}; pass the share of "
        "positives in the full data set"
    )
    try:
        value = torch.as_tensor(prior, dtype=torch.float64)
    except (TypeError, ValueError):  # words, or rows of different lengths
        raise wrong from None
    if not bool(((value > 0) & (value < 1)).all()) or math.prod(value.shape) not in (1, lists):
        raise wrong
    return value.reshape(()) if value.numel() == 1 else value.reshape(lists)
