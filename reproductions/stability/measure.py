"""The numbers of the study: bounded differences against n, twin distances against N⁺ and steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankwise.theory import (
    BoundedDifference,
    Stability,
    TwinTraining,
    bounded_difference,
    loglog_slope,
    model_stability,
)
from reproductions.frame import BasePlan, Setting
from reproductions.stability.losses import LISTS, RATE, models


@dataclass(frozen=True)
class Plan(BasePlan):
    """How much is computed."""

    QUICK: ClassVar = {
        "sizes": (256, 1024, 4096),
        "draws": 5,
        "n_positives": (25, 100),
        "steps": (10, 30),
        "repeats": 3,
    }

    sizes: tuple[int, ...] = (256, 1024, 4096, 16_384, 65_536, 262_144)
    draws: int = 20
    n_positives: tuple[int, ...] = (25, 50, 100, 200, 400)
    steps: tuple[int, ...] = (25, 50, 100, 200)
    repeats: int = 8


@dataclass(frozen=True)
class Slopes:
    """Log–log slopes of one loss: −1 is O(1/n), 0 is O(1)."""

    worst: float
    worst_at_end: float  # between the two largest sizes
    typical: float
    positive: float  # of ε⁺ in N⁺
    negative: float


@dataclass(frozen=True)
class Measured:
    """Everything measured, by the name of the loss."""

    plan: Plan
    training: TwinTraining
    differences: dict[str, list[BoundedDifference]]
    stabilities: dict[str, list[Stability]]

    def at(self, name: str, steps: int) -> list[Stability]:
        """The stabilities of a loss after that many steps, by N⁺."""
        return [s for s in self.stabilities[name] if s.steps == steps]

    def slopes(self, name: str) -> Slopes:
        """How everything of one loss falls."""
        rows, last = self.differences[name], self.at(name, max(self.plan.steps))
        sizes, worst = [row.n for row in rows], [row.worst for row in rows]
        counts = [row.n_positives for row in last]
        return Slopes(
            worst=loglog_slope(sizes, worst),
            worst_at_end=loglog_slope(sizes[-2:], worst[-2:]),
            typical=loglog_slope(sizes, [row.typical.value for row in rows]),
            positive=loglog_slope(counts, [row.positive.value for row in last]),
            negative=loglog_slope(counts, [row.negative.value for row in last]),
        )


def measure(plan: Plan, setting: Setting) -> Measured:
    """Replace examples in lists, then train twins."""
    training = TwinTraining()
    factories = models(1 / (1 + training.negatives_per_positive))

    def difference(name: str) -> list[BoundedDifference]:
        return bounded_difference(
            LISTS[name], plan.sizes, rate=RATE, draws=plan.draws, seed=setting.seed
        )

    def twins(key: tuple[str, int]) -> list[Stability]:
        make, n = factories[key[0]], key[1]
        sizes = {"repeats": plan.repeats, "seed": setting.seed}
        return model_stability(make, n, plan.steps, training=training, **sizes)

    replaced = setting.each(
        plan, list(LISTS), "replacing one example of a list", difference, list[BoundedDifference]
    )
    stabilities: dict[str, list[Stability]] = {name: [] for name in factories}
    work = [(name, n) for name in factories for n in plan.n_positives]
    trained = setting.each(plan, work, "training twins", twins, list[Stability])
    for (name, _), found in zip(work, trained, strict=True):
        stabilities[name] += found
    return Measured(plan, training, dict(zip(LISTS, replaced, strict=True)), stabilities)
