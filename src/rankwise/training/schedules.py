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
    """Multiply the rate by ``factor`` after every milestone; rise to it over ``warm_up`` steps."""
    passed = sum(step >= milestone for milestone in milestones)
    return rate * factor**passed * min(1.0, (step + 1) / (warm_up + 1))


def cosine_rate(rate: float, step: int, steps: int) -> float:
    """Let the rate fall to 0 over ``steps`` as half a period of a cosine."""
    return rate * (1 + math.cos(math.pi * step / steps)) / 2
