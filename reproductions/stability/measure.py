"""The numbers of the study: bounded differences against n, twin distances against N⁺ and steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankwise.theory import (
    BoundedDifference,
    Stability,
    TwinTraining,
    bounded_difference,
    loglog_slope,
    model_stability,
)
from reproductions.base import Setting
from reproductions.stability.losses import LISTS, RATE, models

__all__ = ["Measured", "Plan", "Slopes", "measure"]


@dataclass(frozen=True)
class Plan:
    """How much is computed."""

    sizes: tuple[int, ...] = (256, 1024, 4096, 16_384, 65_536, 262_144)
    draws: int = 20
    n_positives: tuple[int, ...] = (25, 50, 100, 200, 400)
    steps: tuple[int, ...] = (25, 50, 100, 200)
    repeats: int = 8

    @classmethod
    def of(cls, setting: Setting) -> Plan:
        """The full plan, or a small one; ``draws`` of the setting is the number of data sets."""
        if setting.quick:
            return cls(
                sizes=(256, 1024, 4096),
                draws=5,
                n_positives=(25, 100),
                steps=(10, 30),
                repeats=setting.draws or 3,
            )
        return cls(repeats=setting.draws or 8)


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
    differences = {
        name: bounded_difference(
            LISTS[name], plan.sizes, rate=RATE, draws=plan.draws, seed=setting.seed
        )
        for name in setting.track(list(LISTS), "replacing one example of a list")
    }
    factories = models(1 / (1 + training.negatives_per_positive))
    stabilities: dict[str, list[Stability]] = {name: [] for name in factories}
    work: Sequence[tuple[str, int]] = [(name, n) for name in factories for n in plan.n_positives]
    for name, n in setting.track(work, "training twins"):
        stabilities[name] += model_stability(
            factories[name],
            n,
            plan.steps,
            training=training,
            repeats=plan.repeats,
            seed=setting.seed,
        )
    return Measured(plan, training, differences, stabilities)
