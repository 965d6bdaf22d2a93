"""Gradients averaged over noisy orders of the rows: stochastic smoothing."""

from __future__ import annotations

import numpy as np

from rankwise.boosting.gradient import Curvature, ObjectiveGradient
from rankwise.boosting.merging import LONG, merge
from rankwise.boosting.rows import Floats, Rows
from rankwise.checks import require_count, require_number
from rankwise.objectives import Objective

SAMPLES = 4
"""Number of noisy orders a round."""


def check_noise(noise: float, samples: int) -> None:
    """Raise unless ``noise`` is a scale ≥ 0 and ``samples`` a number of draws."""
    require_number("noise", noise, minimum=0)
    require_count("samples", samples)


class NoisyGradient(ObjectiveGradient):
    """Gradient and curvature at noisy scores, averaged over draws.

    Each draw adds independent Gumbel noise of scale ``noise`` to the scores, which orders a list as
    the Plackett–Luce model of scores/``noise`` does. The mean over draws estimates the gradient of
    the expected risk E[R(s + ξ)]. Near ties of the training scores are then not taken for an order,
    and an item just below the first k has a gradient.

    Draws depend on ``seed`` and on the round (``rows.round``) only, so a training is repeatable and
    can be resumed. A round costs ``samples`` sorts.

    Reference:
        Gulin et al. 2011, "Winning the Transfer Learning Track of Yahoo!'s Learning To Rank
        Challenge with YetiRank"; Lyzhin et al. 2023, "Which Tricks are Important for Learning to
        Rank?" (YetiLoss).
    """

    def __init__(
        self,
        objective: Objective,
        curvature: Curvature = "expected",
        *,
        noise: float,
        samples: int = SAMPLES,
        seed: int = 0,
    ) -> None:
        super().__init__(objective, curvature)
        self.noise, self.samples, self.seed = noise, samples, seed

    def derivatives(self, scores: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the means over draws of gradient and curvature, before scaling."""
        n, rng = len(scores), np.random.default_rng((self.seed, rows.round))
        per_call = max(1, LONG // n)  # short lists of several draws are one batch of lists
        gradient, curvature = np.zeros(n), np.zeros(n)
        for first in range(0, self.samples, per_call):
            draws = min(per_call, self.samples - first)
            noisy = scores + self.noise * rng.gumbel(size=(draws, n))
            several = _repeated(rows, draws)
            items = merge(noisy.ravel(), several, graded=self.objective.graded)
            parts = (items.spread_out(p, several.weight) for p in self.of_items(items))
            # The risk of a batch is the mean over its lists, those of all its draws.
            slope, bend = (draws / self.samples * p.reshape(draws, n).sum(0) for p in parts)
            gradient, curvature = gradient + slope, curvature + bend
        return gradient, self.smoothed(scores, curvature, rows.weight)


def _repeated(rows: Rows, times: int) -> Rows:
    """Return the rows several times, each time as lists of their own."""
    if times == 1:
        return rows
    groups = np.zeros(len(rows.target), np.int64) if rows.groups is None else rows.groups
    apart = groups.max(initial=0) + 1
    return Rows(
        np.tile(rows.target, times),
        None if rows.weight is None else np.tile(rows.weight, times),
        (groups + apart * np.arange(times)[:, None]).ravel(),
    )
