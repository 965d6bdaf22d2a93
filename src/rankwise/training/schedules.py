"""Learning rates as functions of the step, counted from 0."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["cosine_rate", "milestone_rate"]


def milestone_rate(
    rate: float,
    step: int,
    milestones: Sequence[int] = (),
    factor: float = 0.1,
    *,
    warm_up: int = 0,
) -> float:
    """Return the rate times ``factor`` for every milestone passed, after a linear warm-up.

    Args:
        rate: Learning rate after the warm-up.
        step: Number of the step, from 0.
        milestones: Steps after which the rate is multiplied by ``factor``.
        factor: Factor of a milestone.
        warm_up: Steps over which the rate rises to ``rate``.

    Returns:
        Learning rate of the step.

    Example:
        >>> from rankwise.training import milestone_rate
        >>> [milestone_rate(1.0, step, milestones=[2], warm_up=1) for step in range(4)]
        [0.5, 1.0, 0.1, 0.1]
    """
    passed = sum(step >= milestone for milestone in milestones)
    return rate * factor**passed * min(1.0, (step + 1) / (warm_up + 1))


def cosine_rate(rate: float, step: int, steps: int) -> float:
    """Return the rate of a cosine schedule that falls to 0 over ``steps``.

    Args:
        rate: Learning rate of the first step.
        step: Number of the step, from 0.
        steps: Number of steps until the rate is 0.

    Returns:
        Learning rate of the step.

    Example:
        >>> from rankwise.training import cosine_rate
        >>> [round(cosine_rate(1.0, step, 2), 3) for step in range(3)]
        [1.0, 0.5, 0.0]
    """
    return rate * (1 + math.cos(math.pi * step / steps)) / 2
