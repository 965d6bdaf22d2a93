"""Screen the arms on validation, choose the finalists, then repeat and test these."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from rankwise.data import DataError
from reproductions.frame import Runs, Setting
from reproductions.outer.finalists import Choice, Choices, choose
from reproductions.outer.plan import Plan, Stage
from reproductions.outer.problem import Arm, Outcome, Problem


@dataclass(frozen=True)
class Cell:
    """One training."""

    task: str
    problem: str
    stage: str
    arm: str
    family: str
    seed: int
    validation: float
    test: float | None
    seconds: float  # of the processor


@dataclass(frozen=True)
class Measured:
    """All trainings that are kept, the choices, and the number that are missing of all."""

    cells: list[Cell]
    choices: dict[str, Choice]
    missing: dict[str, tuple[int, int]]  # by task and stage

    def of(self, task: str, stage: Stage) -> list[Cell]:
        """Return the cells of a task and stage."""
        return [cell for cell in self.cells if (cell.task, cell.stage) == (task, stage)]


@dataclass(frozen=True)
class Work:
    """One training to do."""

    problem: Problem
    arm: Arm
    stage: Stage
    seed: int

    @property
    def name(self) -> str:
        """Name of the run."""
        place = f"{self.problem.task} / {self.problem.name} / {self.stage}"
        return f"{place} / {self.arm.key} / seed {self.seed}"

    def run(self, clock: Callable[[], float]) -> dict[str, float | None]:
        """Train; a model that diverges to NaN has value 0."""
        start, test = clock(), self.stage == "final"
        try:
            found = self.problem.train(self.arm, self.seed, test)
        except ValueError as error:
            if "NaN" not in str(error):
                raise
            found = Outcome(0.0, 0.0 if test else None)
        numbers = {name: _zero_if_nan(value) for name, value in asdict(found).items()}
        return {**numbers, "seconds": round(clock() - start, 2)}


def measure(plan: Plan, setting: Setting) -> Measured:
    """Train what the plan asks for and return all that is kept, of other calls as well."""
    session = Session(plan, setting)
    tasks = [task for task in plan.arms if task in plan.tasks and plan.of_task(task)]
    if plan.stage == "final":
        session.require_choices(tasks)
    for task in tasks:
        if plan.stage != "final":
            session.screen(task)
        if plan.stage != "screen":
            session.repeat(task)
    return _collect(plan, session.runs, session.choices, setting.seed)


class Session:
    """The trainings of one call, which start until its minutes are over."""

    def __init__(self, plan: Plan, setting: Setting) -> None:
        self.plan, self.setting = plan, setting
        self.runs = Runs(setting.folder, plan.asked(setting.seed))
        self.choices = Choices(setting.folder)
        self.end = time.monotonic() + 60 * plan.max_minutes

    def screen(self, task: str) -> None:
        """Train every arm once, and choose the finalists when all are there.

        Once a finalist has been tested, the choice stays as it is.
        """
        plan, seed = self.plan, self.setting.seed
        work = screen_work(plan, task, seed)
        self._train(work, f"{task}, screen")
        before = self.choices.get(task)
        if before is not None and any(map(self._is_kept, final_work(plan, before, seed))):
            return
        if all(map(self._is_kept, work)):
            values: dict[str, dict[str, float]] = {}
            for one in work:
                row = values.setdefault(one.arm.name, {})
                row[one.problem.name] = self.runs.known[one.name]["validation"]
            self.choices.put(choose(task, plan.screened(task), values))

    def repeat(self, task: str) -> None:
        """Train and test the finalists; without a choice there is nothing to test."""
        choice = self.choices.get(task)
        if choice is not None:
            work = final_work(self.plan, choice, self.setting.seed)
            self._train(work, f"{task}, finalists")

    def require_choices(self, tasks: Sequence[str]) -> None:
        """Raise where the finalists of a task have not been chosen."""
        for task in tasks:
            if self.choices.get(task) is None:
                where = self.choices.path(task) or f"the finalists of {task}"
                raise DataError(
                    f"stage final needs {where}, which the screen writes; run --stage screen "
                    "first, to its end, or leave the task out of --tasks"
                )

    def _is_kept(self, one: Work) -> bool:
        return one.name in self.runs.known

    def _train(self, work: Sequence[Work], doing: str) -> None:
        for one in self.setting.track(work, doing):
            if self._is_kept(one) or time.monotonic() < self.end:
                self.runs.get(one.name, partial(one.run, self.plan.clock))


def screen_work(plan: Plan, task: str, seed: int) -> list[Work]:
    """Return every arm on every problem to screen, one seed."""
    problems = plan.of_task(task, "screen")
    return [Work(p, arm, "screen", seed) for arm in plan.screened(task) for p in problems]


def final_work(plan: Plan, choice: Choice, seed: int) -> list[Work]:
    """Return the reference and the finalists on every problem, with seeds of their own."""
    arms = {arm.name: arm for arm in plan.arms[choice.task]}
    if lost := [name for name in choice.names if name not in arms]:
        raise DataError(
            f"the finalists of {choice.task} must be arms of the table, got {lost[0]!r}; remove "
            f"finalists_{choice.task}.json and run the screen again"
        )
    return [
        Work(problem, arms[name], "final", seed + 1 + repeat)
        for repeat in range(plan.repeats)
        for problem in plan.of_task(choice.task)
        for name in choice.names
    ]


def _collect(plan: Plan, runs: Runs, choices: Choices, seed: int) -> Measured:
    cells: list[Cell] = []
    missing: dict[str, tuple[int, int]] = {}
    chosen: dict[str, Choice] = {}
    for task in (task for task in plan.arms if plan.of_task(task)):
        stages = {"screen": screen_work(plan, task, seed)}
        if (choice := choices.get(task)) is not None:
            chosen[task] = choice
            stages["final"] = final_work(plan, choice, seed)
        for stage, work in stages.items():
            known = [one for one in work if one.name in runs.known]
            cells += [_cell(one, runs.known[one.name]) for one in known]
            if len(known) < len(work):
                missing[f"{task}, {stage}"] = (len(work) - len(known), len(work))
        if choice is None:
            missing.setdefault(f"{task}, final", (0, 0))
    return Measured(cells, chosen, missing)


def _cell(one: Work, kept: dict[str, float | None]) -> Cell:
    validation, seconds = kept["validation"], kept["seconds"]
    assert validation is not None
    assert seconds is not None
    place = (one.problem.task, one.problem.name, one.stage)
    return Cell(*place, one.arm.name, one.arm.family, one.seed, validation, kept["test"], seconds)


def _zero_if_nan(value: float | None) -> float | None:
    return 0.0 if value is not None and math.isnan(value) else value
