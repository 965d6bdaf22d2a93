"""Losses that may take the spread of the scores for their unit."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import require_positive
from rankwise.memory import MovingAverage
from rankwise.objectives.base import Objective
from rankwise.objectives.batch import Batch
from rankwise.objectives.spread import AddUp, Measured, measured, with_own_spread

__all__ = ["ScaledObjective", "ScoreScale"]

ScoreScale = float | Literal["auto"]
"""What scores are divided by: a number, or their spread."""

_SMOOTHING = 0.1  # how fast the running spread follows the batches


class ScaledObjective(Objective):
    """A loss of scores divided by ``score_scale``, a number or ``"auto"``, their own spread.

    With ``"auto"`` every margin and temperature is in units of the spread: the root of the mean
    variance of the lists of a batch. With ``running`` it is smoothed over the batches and lives in
    the buffer ``spread``; without, it is that of the batch, and the loss does not depend on the
    size of the scores at all. Either way its gradient has no part along the scores: were the spread
    taken as given, smaller scores would cost less, the spread would follow them, and all scores, or
    all embeddings, would draw together.
    """

    def __init__(self, score_scale: ScoreScale, *, running: bool = False) -> None:
        super().__init__()
        if score_scale != "auto":
            require_positive("score_scale", score_scale)
        self.score_scale = score_scale
        self.spread = MovingAverage(1, ema_rate=_SMOOTHING) if running else None
        self._measured: Measured | None = None  # of the scores of the call that is under way

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
        if not bool(variance.isfinite()):  # unchecked scores that are no numbers teach nothing
            return 1.0
        if self.spread is not None and bool(found.lists):
            key = torch.zeros(1, dtype=torch.long, device=variance.device)
            variance = self.spread(key, variance.reshape(1, 1)).reshape(())
        spread = variance.sqrt().to(batches[0].scores.dtype)
        return torch.where(spread > 0, spread, torch.ones_like(spread))
