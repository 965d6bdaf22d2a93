"""Which arms are repeated and tested: chosen by the screen, and written before any test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rankwise.data import DataError
from rankwise.report import write_json
from reproductions.outer.arms import PLAIN, PUBLISHED
from reproductions.outer.problem import REFERENCE, Arm

MOST = 4
"""Finalists of a task at most, the reference not among them."""

Values = Mapping[str, Mapping[str, float]]
"""Validation of every arm on every problem."""


@dataclass(frozen=True)
class Choice:
    """The reference and the finalists of a task, with the validation values that chose them.

    The reference is the best of the task's usual losses on validation, the plain loss the best
    of those of the goal: softmax, SupCon or cross-entropy. Often they are one.
    """

    task: str
    reference: str
    finalists: tuple[str, ...]
    why: dict[str, str]  # of every finalist and of the reference
    relative: dict[str, float]  # of every arm: mean over the problems, the first arm is 1
    validation: dict[str, dict[str, float]]

    @property
    def plain(self) -> str:
        """The softmax, SupCon or cross-entropy with the best validation of the screen."""
        own = [name for name in self.relative if name.startswith(PLAIN)]
        return max(own, key=self.relative.__getitem__, default=self.reference)

    @property
    def names(self) -> tuple[str, ...]:
        """The reference, the plain loss and the finalists."""
        return tuple(dict.fromkeys((self.reference, self.plain, *self.finalists)))


def relative_values(arms: Sequence[Arm], values: Values) -> dict[str, float]:
    """Mean over the problems of an arm's validation divided by that of the first arm."""
    base = values[arms[0].name]
    return {
        arm.name: sum(values[arm.name][p] / max(base[p], 1e-12) for p in base) / len(base)
        for arm in arms
    }


def choose(task: str, arms: Sequence[Arm], values: Values) -> Choice:
    """Choose the best reference, and the best arm of each family, the best families first.

    The published forms have a place in any case: at most :data:`MOST` with them.
    """
    relative = relative_values(arms, values)
    ranked = sorted(arms, key=lambda arm: -relative[arm.name])
    reference = next(arm for arm in ranked if arm.family == REFERENCE)
    why = {reference.name: "best validation of the reference losses"}
    published = [arm.name for arm in arms if arm.name in PUBLISHED]
    chosen: dict[str, str] = {}
    families: set[str] = {REFERENCE}
    for arm in ranked:
        waiting = [name for name in published if name not in chosen and name != arm.name]
        if arm.family not in families and len(chosen) + len(waiting) < MOST:
            chosen[arm.name] = f"best validation of the family {arm.family}"
        families.add(arm.family)
    for name in published:
        chosen.setdefault(name, "published form")
    plain = {name: dict(row) for name, row in values.items()}
    return Choice(task, reference.name, tuple(chosen), why | chosen, relative, plain)


class Choices:
    """The choices of a study in its folder, one file for each task; None: in memory only."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.known: dict[str, Choice] = {}

    def path(self, task: str) -> Path | None:
        """Return the file of a task."""
        return None if self.folder is None else self.folder / f"finalists_{task}.json"

    def get(self, task: str) -> Choice | None:
        """Return the choice of a task, None before there is one."""
        path = self.path(task)
        if task not in self.known and path is not None and path.exists():
            try:
                held = json.loads(path.read_text())
                self.known[task] = Choice(**held | {"finalists": tuple(held["finalists"])})
            except (ValueError, TypeError, KeyError) as error:
                raise DataError(
                    f"{path}: is not a choice of finalists ({error!r}); remove it and run the "
                    "screen again"
                ) from None
        return self.known.get(task)

    def put(self, choice: Choice) -> None:
        """Write a choice."""
        self.known[choice.task] = choice
        if (path := self.path(choice.task)) is not None:
            write_json(path, asdict(choice))
