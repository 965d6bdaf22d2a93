"""What the losses of the AP family share: the prior, the gain that does not saturate, the scale."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import require_one_of, require_positive
from rankwise.lists import Lists
from rankwise.memory import MovingAverage
from rankwise.objectives.ap.spread import AddUp, Measured, measured, with_own_spread
from rankwise.objectives.base import Objective
from rankwise.objectives.batch import Batch

__all__ = ["Correction", "PrecisionObjective", "Prior"]

Correction = Literal["annealed", "fixed"]
Prior = float | Tensor | None

_SMOOTHING = 0.1  # how fast the running gain and the running spread follow the batches


class PrecisionObjective(Objective):
    """A loss σ(k · ratio) with the gain k = (1−π)/π of the prior π, and everything about that k.

    ``prior``: the share of positives in the data set, a number or one per list; None takes that
    of each list itself. ``correction="fixed"`` is the printed gain. On an untrained model
    σ(x) = x/(1+x) is then flat and training stalls; ``"annealed"`` takes
    k = min((1−π)/π, 1/median_i ratio_i), which is the printed gain again once the median positive
    has a precision above one half. ``score_scale="auto"`` divides the scores by their spread, so
    that τ is in units of it; a number divides by that number.

    With ``running`` the gain and the spread are smoothed over the batches and live in buffers,
    ``gain`` (log k by list) and ``spread``; without, they are those of the batch, and the loss does
    not depend on the size of the scores at all. Either way its gradient has no part along the
    scores: were a running spread taken as given, smaller scores would cost less, the spread would
    follow them, and all scores, or all embeddings, would draw together.
    """

    prior: Tensor | None

    def __init__(
        self,
        prior: Prior,
        *,
        correction: Correction,
        score_scale: float | Literal["auto"],
        lists: int = 1,
        running: bool = True,
    ) -> None:
        super().__init__()
        require_one_of("correction", correction, ("annealed", "fixed"))
        if score_scale != "auto":
            require_positive("score_scale", score_scale)
        self.correction, self.score_scale, self.keys = correction, score_scale, lists
        self.register_buffer("prior", _checked_prior(prior, lists), persistent=False)
        self.gain = MovingAverage(lists, rate=_SMOOTHING) if running else None
        self.spread = MovingAverage(1, rate=_SMOOTHING) if running else None
        self._gains: list[tuple[Tensor, Tensor]] = []
        self._measured: Measured | None = None  # of the scores of the call that is under way

    @property
    def multiplier(self) -> Tensor | None:
        """The running gain k of every list, for the log; None before the first batch."""
        if self.gain is None or not bool(self.gain.seen.any()):
            return None
        return self.gain.value.squeeze(1).exp()

    def full_gain(self, lists: Lists) -> Tensor:
        """(1−π)/π of every list, (lists, 1)."""
        if self.prior is None:
            return lists.n_negatives / lists.n_positives
        prior = self.prior.to(lists.n_positives)
        if prior.dim() and lists.index is not None:
            prior = prior[lists.index].unsqueeze(-1)
        return ((1 - prior) / prior).expand_as(lists.n_positives)

    def gain_of(self, lists: Lists, ratio: Tensor) -> Tensor:
        """The gain k for every list, (lists, 1), from the ratios of its positives."""
        full = self.full_gain(lists)
        if self.correction == "fixed":
            return full
        present = ratio.detach().masked_fill(lists.positive_weight == 0, torch.nan)
        median = present.nanmedian(-1, keepdim=True).values
        # A median of 0 is a ranking without errors, which needs no help.
        gain = torch.where(median > 0, torch.minimum(full, 1 / median), full)
        return gain if self.gain is None else torch.minimum(full, self._smoothed(lists, gain))

    def _smoothed(self, lists: Lists, gain: Tensor) -> Tensor:
        assert self.gain is not None
        index = lists.index
        if index is None:
            index = torch.zeros(len(gain), dtype=torch.long, device=gain.device)
        log_gain = gain.log()
        self._gains.append((index, log_gain))
        return self.gain.preview(index, log_gain).exp().to(gain.dtype)

    def learn(self, like: Tensor) -> None:
        """Take the gains of all the lists of this call into the running gain, at once."""
        super().learn(like)
        if self.gain is not None and self.correction == "annealed":
            self.take_in(self.gain, self._gains, like)
        self._gains.clear()

    def _mean_risk(self, batches: list[Batch], scores: Tensor) -> Tensor:
        if self.score_scale != "auto":
            return super()._mean_risk(batches, scores)
        self._measured = measured(batches, self._add_up)
        own = with_own_spread(batches, self._measured, self._add_up)
        value = super()._mean_risk(own, scores)
        if self.exchange is None:
            return value
        # All processes take part in the backward pass, also one without lists.
        return value + sum((batch.scores[:0].sum() for batch in own), scores.new_zeros(()))

    @property
    def _add_up(self) -> AddUp:
        return (lambda value: value) if self.exchange is None else self.exchange.total

    def scale(self, batches: list[Batch]) -> Tensor | float:
        """The spread of the scores, or the number given."""
        if self.score_scale != "auto":
            return float(self.score_scale)
        found = self._measured or measured(batches, self._add_up)
        self._measured = None
        variance = found.variance / found.lists.clamp_min(1)
        if not bool(variance.isfinite()):  # the scores are about to be refused: learn nothing
            return 1.0
        if self.spread is not None and bool(found.lists):
            key = torch.zeros(1, dtype=torch.long, device=variance.device)
            variance = self.spread(key, variance.reshape(1, 1)).reshape(())
        spread = variance.sqrt().to(batches[0].scores.dtype)
        return torch.where(spread > 0, spread, torch.ones_like(spread))


def _checked_prior(prior: Prior, lists: int) -> Tensor | None:
    if prior is None:
        return None
    value = torch.as_tensor(prior, dtype=torch.float64)
    if not bool(((value > 0) & (value < 1)).all()) or math.prod(value.shape) not in (1, lists):
        raise ValueError(
            f"prior must be None, a number between 0 and 1 or {lists} of them, one per list, "
            f"got {prior!r}"
        )
    return value.reshape(()) if value.numel() == 1 else value.reshape(lists)
