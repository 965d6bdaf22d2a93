"""The settings of the study: problems, sizes and repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from reproductions.frame import BasePlan, Setting
from reproductions.generalization.problems import TableProblem, read_table

Axis = Literal["lists", "positives", "negatives"]
AXES: tuple[Axis, ...] = ("lists", "positives", "negatives")
LIST_POSITIVES, LIST_NEGATIVES = 5, 20  # of one list, where the number of lists is the size


class Counts(NamedTuple):
    """Lists of a sample, and positives and negatives of each list."""

    lists: int
    positives: int
    negatives: int

    @property
    def items(self) -> int:
        """Items of a list."""
        return self.positives + self.negatives


@dataclass(frozen=True)
class Plan(BasePlan):
    """How much is computed."""

    QUICK: ClassVar = {
        "lists": (16, 64, 256),
        "sizes": (20, 80, 320),
        "repeats": 8,
        "steps": 40,
        "fresh": 10_000,
        "twin_sizes": (25, 100),
        "signs": 6,
    }

    table: TableProblem
    lists: tuple[int, ...] = (8, 16, 32, 64, 128, 256)
    sizes: tuple[int, ...] = (20, 40, 80, 160, 320)  # of positives, and of negatives
    other: int = 640  # examples of the class whose number stays
    repeats: int = 12  # independent samples
    steps: int = 60
    radius: float = 2.0
    learning_rate: float = 0.1
    fresh: int = 20_000  # scores of fresh lists of every model
    long: int = 16_384  # scores of the list that stands for an infinite one
    twin_sizes: tuple[int, ...] = (25, 50, 100, 200, 400)
    signs: int = 20  # draws of the signs of the complexity

    @classmethod
    def of(cls, setting: Setting) -> Plan:
        """Return the plan for a setting; ``draws`` is the number of samples."""
        return cls(read_table(setting.data)).changed(setting)

    def sizes_of(self, axis: Axis) -> tuple[int, ...]:
        """Return the sizes along an axis."""
        return self.lists if axis == "lists" else self.sizes

    def counts(self, axis: Axis, size: int) -> Counts:
        """Return the counts of a sample of a size along an axis."""
        if axis == "lists":
            return Counts(size, LIST_POSITIVES, LIST_NEGATIVES)
        positives, negatives = (size, self.other) if axis == "positives" else (self.other, size)
        return Counts(1, positives, negatives)
