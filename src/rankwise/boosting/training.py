"""Trees in stages: one objective after the other, each from the best of the one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rankwise.boosting.engines import Engine
from rankwise.boosting.mixing import Gradient
from rankwise.boosting.rows import Floats

__all__ = ["Stage", "boost"]


@dataclass(frozen=True)
class Stage:
    """Trees of one gradient, until there are so many trees in all."""

    gradient: Gradient
    until: int


def boost(
    engine: Engine,
    stages: Sequence[Stage],
    judge: Callable[[Floats], float] | None = None,
    patience: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> float:
    """Grow the trees of all stages; the best value of ``judge``, larger being better.

    With a judge every stage ends after ``patience`` trees that made nothing better, and goes back
    to the best there was. The next one starts there, so that by the judge a later stage can only
    improve on an earlier one. ``stop`` is asked after every tree and ends its stage.
    """
    best, kept = float("-inf"), 0
    for stage in stages:
        while engine.rounds < stage.until:
            if not engine.grow(stage.gradient):
                break
            if judge is None:
                kept = engine.rounds
            else:
                value = engine.value(judge)
                if value > best:
                    best, kept = value, engine.rounds
                elif patience is not None and engine.rounds - kept >= patience:
                    break
            if stop():
                break
        engine.cut(kept)
    return best
