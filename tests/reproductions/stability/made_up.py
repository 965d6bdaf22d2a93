"""What a study of stability would have measured, by rule."""

from __future__ import annotations

from collections.abc import Callable

from rankwise.theory import BoundedDifference, Mean, Stability, TwinTraining
from reproductions.stability.losses import LISTS
from reproductions.stability.measure import Measured, Plan

PLAN = Plan(sizes=(100, 400, 1600), draws=4, n_positives=(10, 40), steps=(5, 20), repeats=3)
POWERS = dict(zip(LISTS, (-1.0, -0.5, 0.0, -0.25, -2.0), strict=True))
"""How the largest change of each loss falls with n."""


def measured(
    worst: Callable[[str, int], float] = lambda name, n: 2 * n ** POWERS[name],
    distance: Callable[[str, int, int], float] = lambda name, n, steps: steps / n,
    error: float = 0.01,
) -> Measured:
    """Random lists change by 3/n; a negative moves the model half as far as a positive."""
    differences = {
        name: [
            BoundedDifference(n, Mean(3 / n, error / n, PLAN.draws), worst(name, n), "separated")
            for n in PLAN.sizes
        ]
        for name in LISTS
    }
    stabilities = {
        name: [
            Stability(
                n,
                steps,
                *(
                    Mean(part * distance(name, n, steps), error, PLAN.repeats)
                    for part in (1, 0.5, 0.1, 0.05)
                ),
            )
            for n in PLAN.n_positives
            for steps in PLAN.steps
        ]
        for name in LISTS
    }
    return Measured(PLAN, TwinTraining(), differences, stabilities)
