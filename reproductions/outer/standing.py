"""Who stands where on the test: paired differences to the reference, recipes, and the goal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rankwise.theory import Mean, mean_of
from reproductions.outer.finalists import Choice
from reproductions.outer.measure import Cell, Measured
from reproductions.sentences import standing

WORDS = {"higher": "ahead", "lower": "behind", "level": "level"}
LEAST_AHEAD = 3
"""Tasks that must be ahead for the goal."""


@dataclass(frozen=True)
class Standing:
    """A finalist on a task: mean relative difference to a base, over problems and seeds."""

    task: str
    arm: str
    base: str  # the reference or the plain loss
    validation: Mean  # relative to the base, of the same trainings
    test: Mean

    @property
    def word(self) -> str:
        """Ahead, level or behind; open with fewer than two seeds."""
        return WORDS.get(standing(self.test), "open")


@dataclass(frozen=True)
class Goal:
    """Never behind the plain loss, ahead on at least three tasks; open while tasks are missing."""

    ahead: tuple[str, ...]
    behind: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def word(self) -> str:
        """Met, not met, or open."""
        if self.behind:
            return "not met"
        if self.missing:
            return "open"
        return "met" if len(self.ahead) >= LEAST_AHEAD else "not met"


def whole_seeds(cells: Sequence[Cell], choice: Choice, problems: Sequence[str]) -> list[int]:
    """Seeds whose trainings are all there."""
    there = {(c.seed, c.problem, c.arm) for c in cells}
    return [
        seed
        for seed in sorted({c.seed for c in cells})
        if all((seed, p, arm) in there for p in problems for arm in choice.names)
    ]


def differences(cells: Sequence[Cell], arm: str, reference: str, problem: str) -> list[float]:
    """Test of an arm less that of the reference on a problem, one for each seed of both."""
    tests = {(c.arm, c.seed): c.test for c in cells if c.problem == problem}
    found = []
    for (name, seed), value in sorted(tests.items(), key=lambda item: item[0][1]):
        other = tests.get((reference, seed))
        if name == arm and value is not None and other is not None:
            found.append(value - other)
    return found


def standings(measured: Measured, task: str, *, plain: bool = False) -> list[Standing]:
    """Every finalist of a task against the reference; none before a seed has all its trainings.

    ``plain``: against softmax, SupCon or cross-entropy, which the goal names.
    """
    choice, cells = measured.choices.get(task), measured.of(task, "final")
    if choice is None:
        return []
    problems = sorted({c.problem for c in cells})
    seeds = whole_seeds(cells, choice, problems)
    if not seeds:
        return []
    base = choice.plain if plain else choice.reference
    by = {(c.seed, c.problem, c.arm): c for c in cells}

    def relative(arm: str, part: str) -> Mean:
        found = []
        for seed in seeds:
            ratios = []
            for problem in problems:
                own, other = (getattr(by[seed, problem, name], part) for name in (arm, base))
                ratios.append(own / max(other, 1e-12) - 1)
            found.append(sum(ratios) / len(ratios))
        return mean_of(found)

    return [
        Standing(task, arm, base, relative(arm, "validation"), relative(arm, "test"))
        for arm in choice.finalists
    ]


def recipe(measured: Measured, task: str, *, plain: bool = False) -> Standing | None:
    """The finalist with the best validation over the seeds; the test does not choose."""
    found = standings(measured, task, plain=plain)
    return max(found, key=lambda each: each.validation.value) if found else None


def recipes(measured: Measured, task: str) -> list[Standing]:
    """The recipe against the plain loss, and against the reference where this is another."""
    found = (recipe(measured, task, plain=plain) for plain in (True, False))
    return [one for one in dict.fromkeys(found) if one is not None]


def goal_of(measured: Measured, tasks: Sequence[str]) -> Goal:
    """Where the recipes stand on all tasks."""
    words = {}
    for task in tasks:
        one = recipe(measured, task, plain=True)
        words[task] = "open" if one is None or math.isnan(one.test.half_width()) else one.word

    def of(word: str) -> tuple[str, ...]:
        return tuple(task for task in tasks if words[task] == word)

    return Goal(of("ahead"), of("behind"), of("open"))
