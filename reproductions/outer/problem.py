"""What the five tasks of the study have in common: arms, problems and outcomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

REFERENCE = "reference"
"""Family of the losses that are not a metric's own."""


@dataclass(frozen=True)
class Arm:
    """One form of a loss; options that a task does not have are not used there.

    ``{steps}`` in the objective stands for half of the steps of a training.
    """

    name: str
    family: str
    objective: str
    temperature: float = 1.0  # recommendation: of the cosines
    weighting: str = "interactions"  # recommendation: of the lists, or users
    head: str = "linear"  # long tail: or cosine

    @property
    def key(self) -> str:
        """Everything that decides a training apart from its problem and seed."""
        return (
            f"{self.objective}, temperature {self.temperature:g}, {self.weighting}, "
            f"{self.head} head"
        )

    def objective_of(self, steps: int) -> str:
        """Return the objective of a training of that number of steps."""
        return self.objective.format(steps=max(1, steps // 2))


@dataclass(frozen=True)
class Outcome:
    """Metric on validation where it was best, and on the test there; None: test was not read."""

    validation: float
    test: float | None = None


Train = Callable[[Arm, int, bool], Outcome]
"""Train an arm with a seed, which also decides the split; the last says whether to test."""


@dataclass(frozen=True)
class Problem:
    """One data set of a task, with one kind of model; without ``screened`` only finalists."""

    task: str
    name: str
    metric: str
    train: Train
    screened: bool = True
