"""How much is measured, in full and in quick form."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from rankwise.checks import require_one_of
from rankwise.data import DataError
from rankwise.data.images import open_images
from rankwise.tasks.recommendation import Settings
from rankwise.vision.settings import Augmentations
from reproductions.frame import BasePlan, Setting
from reproductions.longtail.measure import Plan as LongTail
from reproductions.outer.arms import ARMS
from reproductions.outer.longtail import longtail_problems
from reproductions.outer.problem import Arm, Problem
from reproductions.outer.ranking import query_problems, read_queries
from reproductions.outer.recommendation import recommendation_problems
from reproductions.outer.retrieval import SHARE, bench_plan, head_problem, scratch_problem
from reproductions.outer.tables import table_problems
from reproductions.retrieval.problem import find_weights

STAGES = ("screen", "final", "both")
Stage = Literal["screen", "final"]
_OUTSIDE = ("tasks", "stage", "max_minutes", "repeats", "per_family", "sets")  # of a training


@dataclass(frozen=True)
class Plan(BasePlan):
    """What is measured; a training has the same size for every arm of a task."""

    QUICK: ClassVar = {
        "repeats": 2,
        "per_family": 1,
        "recommendation_epochs": 5,
        "scratch_steps": 10,
        "head_steps": 0,
        "width": 8,
        "longtail_steps": 20,
        "table_epochs": 1,
        "ranking_epochs": 2,
    }

    problems: tuple[Problem, ...] = ()
    arms: Mapping[str, tuple[Arm, ...]] = field(default_factory=lambda: ARMS)
    tasks: tuple[str, ...] = tuple(ARMS)  # to train on; the report has all that is kept
    stage: str = "both"
    max_minutes: float = 720.0  # no training starts after that
    repeats: int = 5  # seeds of the finalists
    per_family: int = 99  # arms of a family to screen
    sets: tuple[str, ...] = ("Health",)  # of recommendation; there is also Electronic
    recommendation_epochs: int = 200
    patience: int = 20
    scratch_steps: int = 300
    head_steps: int = 200  # 0: no heads
    width: int = 32  # of the network from scratch
    longtail_steps: int = 300
    table_epochs: int = 40
    ranking_epochs: int = 60
    clock: Callable[[], float] = time.process_time

    def __post_init__(self) -> None:
        require_one_of("stage", self.stage, STAGES)
        for task in self.tasks:
            require_one_of("tasks", task, tuple(self.arms))

    @classmethod
    def of(cls, setting: Setting) -> Plan:
        """Return the plan for a setting; its problems read their data when they are trained."""
        if setting.data is None:
            raise DataError(
                "outer needs --data: a folder with images/, ranking/, recommendation/, tabular/ "
                "and weights/"
            )
        plan = cls().changed(setting)
        problems = _problems(plan, Path(setting.data), setting.folder)
        if setting.quick:
            problems = [problem for problem in problems if problem.screened]
        return replace(plan, problems=tuple(problems))

    def asked(self, seed: int) -> dict[str, Any]:
        """Return what every training depends on apart from its name."""
        sizes = {name: value for name, value in self.options().items() if name not in _OUTSIDE}
        return {"seed": seed, **sizes}

    def screened(self, task: str) -> list[Arm]:
        """Return the arms of a task to screen, in the order of its table."""
        found: list[Arm] = []
        for arm in self.arms[task]:
            if sum(other.family == arm.family for other in found) < self.per_family:
                found.append(arm)
        return found

    def of_task(self, task: str, stage: Stage = "final") -> list[Problem]:
        """Return the problems of a task that a stage has."""
        own = [problem for problem in self.problems if problem.task == task]
        return [problem for problem in own if problem.screened or stage == "final"]


def _problems(plan: Plan, folder: Path, out: Path | None) -> list[Problem]:
    settings = Settings(epochs=plan.recommendation_epochs, patience=plan.patience)
    longtail = LongTail((), steps=plan.longtail_steps, warm_start=0)
    return [
        *recommendation_problems(folder, plan.sets, settings),
        *_retrieval(plan, folder, out),
        *longtail_problems(folder, longtail),
        *table_problems(folder, plan.table_epochs),
        *query_problems(partial(read_queries, folder), plan.ranking_epochs),
    ]


def _retrieval(plan: Plan, folder: Path, out: Path | None) -> list[Problem]:
    weights = str(find_weights(folder)) if plan.head_steps else None
    benches = bench_plan(plan.scratch_steps, plan.head_steps, plan.width, weights)
    sets = {
        "Omniglot": ("omniglot", "omniglot_small", Augmentations(resize=32, crop=28, rotation=15)),
        "CIFAR-100": (
            "cifar",
            "cifar100_subset.npz",
            Augmentations(resize=36, crop=32, flip=True, rotation=15),
        ),
    }
    found = []
    for name, (kind, file, views) in sets.items():
        root = folder / "images" / file

        @lru_cache(maxsize=1)
        def read(seed: int, kind: str = kind, root: Path = root) -> Any:
            return open_images(kind, root, validation_share=SHARE, seed=seed)

        found.append(scratch_problem(name, read, views, benches))
        if plan.head_steps:
            kept = None if out is None else out / f"features_{name.lower()}.npz"
            found.append(head_problem(name, read, views, benches, kept))
    return found
