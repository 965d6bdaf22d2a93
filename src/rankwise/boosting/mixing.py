"""An objective beside log-loss: the gradient a booster is given."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankwise.boosting.gradient import log_loss_gradient
from rankwise.boosting.rows import Floats, Rows

__all__ = ["Gradient", "Mixed"]

Gradient = Callable[[Floats, Rows], tuple[Floats, Floats]]
"""(scores, rows) → (gradient, curvature) of every row."""


class Mixed:
    """(1 − ``share``) of log-loss and ``share`` of an objective.

    The objective is scaled until the absolute gradients of both add up to the same, so that a
    share means the same for every objective and in every round.
    """

    def __init__(self, gradient: Gradient, share: float) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"blend must be in [0, 1], got {share!r}")
        self.gradient, self.share = gradient, share

    def __call__(self, scores: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """All rows of a data set, in one call."""
        if self.share == 1:
            return self.gradient(scores, rows)
        plain = log_loss_gradient(scores, rows)
        if self.share == 0:
            return plain
        own = self.gradient(scores, rows)
        size = float(np.abs(own[0]).sum())
        factor = self.share * float(np.abs(plain[0]).sum()) / size if size > 0 else 0.0
        gradient, curvature = (
            (1 - self.share) * a + factor * b for a, b in zip(plain, own, strict=True)
        )
        return gradient, curvature
