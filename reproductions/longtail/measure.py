"""Every method tuned on validation with the same number of settings, then repeated."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from rankwise.data import DataError
from rankwise.data.images.image_set import ClassSplits
from rankwise.tasks.classification.evaluate import evaluate
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.task import train
from reproductions.frame import BasePlan, Runs, Setting
from reproductions.longtail.methods import METHODS, OURS, Choice, Method
from reproductions.longtail.problems import Problem, real_problems

COMPARED = ("CE", *OURS)  # methods whose differences are reported
_TUNING_SEED = 1000  # of the runs that choose; those that are reported have other seeds


@dataclass(frozen=True)
class Plan(BasePlan):
    """How much is done; sizes of a run are the same for every method."""

    QUICK: ClassVar = {"steps": 200, "warm_start": 60, "width": 8, "crop": 24, "tuned_sets": 1}

    problems: tuple[Problem, ...]
    methods: tuple[Method, ...] = METHODS
    rates: tuple[float, ...] = (0.002, 0.005)
    steps: int = 600
    warm_start: int = 180
    every: int = 50  # steps between validations
    width: int = 16
    resize: int = 32
    crop: int = 28
    size: int = 64
    positives: int = 16
    repeats: int = 4
    tuned_sets: int | None = None  # data sets tuned on, the others take the last choice; None: all
    only: tuple[str, ...] = ()  # methods by name; empty for all

    @classmethod
    def of(cls, setting: Setting) -> Plan:
        """Return the plan for a setting; ``draws`` is the number of repeats."""
        made = cls(real_problems(setting.data, quick=setting.quick)).changed(setting)
        names, asked = [method.name for method in METHODS], ", ".join(made.only)
        if unknown := set(made.only) - set(names):
            raise DataError(f"only must be of {', '.join(names)}, got {', '.join(sorted(unknown))}")
        if made.only and not set(COMPARED) < set(made.only):
            raise DataError(
                f"only must have {', '.join(COMPARED)}, whose differences are reported, and one "
                f"more method, got {asked}"
            )
        chosen = tuple(method for method in METHODS if method.name in (made.only or names))
        return replace(made, methods=chosen)

    @property
    def data_sets(self) -> list[str]:
        """In the order of the problems."""
        return list(dict.fromkeys(problem.data_set for problem in self.problems))

    def first_of(self, data_set: str) -> Problem:
        """The problem of a data set that the settings are chosen on."""
        return next(problem for problem in self.problems if problem.data_set == data_set)

    def asked(self, seed: int) -> dict[str, Any]:
        """Return what a run depends on apart from its name (problem, setting and repeat).

        So what is kept serves a study of more sets, methods, rates or repeats as well.
        """
        sizes = ("steps", "warm_start", "every", "width", "resize", "crop", "size", "positives")
        splits = {"seed": seed, "splits": "one for each repeat"}
        return splits | {name: getattr(self, name) for name in sizes}


@dataclass(frozen=True)
class Tuned:
    """What validation chose for a method on a data set, of the values it had."""

    data_set: str
    method: str
    choice: Choice
    values: dict[str, float]  # validation AP of every setting, by its words


@dataclass(frozen=True)
class Cell:
    """One run: test AP and areas of the best validation, and of the last step."""

    data_set: str
    problem: str
    method: str
    repeat: int
    best_step: int
    validation: float
    ap: float
    auroc: float
    partial_auroc: float
    last_ap: float
    last_auroc: float


def measure(plan: Plan, setting: Setting) -> tuple[list[Tuned], list[Cell]]:
    """Tune, then repeat; runs are kept in the folder of the study as they end.

    Every repeat has a split of its own, so that the spread over repeats is also that over splits.
    Settings are chosen on the validation images of another split, the same for all methods.
    """
    runs = Runs(setting.folder, plan.asked(setting.seed))
    some = plan.data_sets[: plan.tuned_sets]
    pairs = [(d, method) for d in some for method in plan.methods]
    tuned = [
        _tune(plan, runs, data_set, method, setting.seed)
        for data_set, method in setting.track(pairs, "tuning on validation")
    ]
    chosen = {(one.data_set, one.method): one.choice for one in tuned}
    for data_set in plan.data_sets[len(some) :]:
        chosen |= {(data_set, m.name): chosen[some[-1], m.name] for m in plan.methods}
    work = [
        (repeat, problem, method)
        for repeat in range(plan.repeats)
        for problem in plan.problems
        for method in plan.methods
    ]
    cells = []
    for repeat, problem, method in setting.track(work, "training with other seeds"):
        choice = chosen[problem.data_set, method.name]
        name = f"{problem.data_set}/{problem.name}/{choice.words}/{repeat}"
        split = split_of(setting.seed, repeat)
        one = partial(run_one, plan, problem, split, method, choice, seed=repeat, test=True)
        found = runs.get(name, one)
        cells.append(Cell(problem.data_set, problem.name, method.name, repeat, **found))
    return tuned, cells


def split_of(seed: int, repeat: int) -> int:
    """The seed of the split of a repeat; that of the study splits the images to tune on."""
    return seed + 1 + repeat


def _tune(plan: Plan, runs: Runs, data_set: str, method: Method, seed: int) -> Tuned:
    choices = method.choices(plan.rates)
    values: dict[str, float] = {}
    problem = plan.first_of(data_set)
    for choice in choices:
        seen = []
        for number in range(problem.tunings):
            name = f"{data_set}/{problem.name}/{choice.words}/tuning{number or ''}"
            one = partial(run_one, plan, problem, seed, method, choice, seed=_TUNING_SEED + number)
            seen.append(runs.get(name, one)["validation"])
        values[choice.words] = sum(seen) / len(seen)
    best = max(choices, key=lambda choice: values[choice.words])
    return Tuned(data_set, method.name, best, values)


def run_one(
    plan: Plan,
    problem: Problem,
    split: int,
    method: Method,
    choice: Choice,
    *,
    seed: int,
    test: bool = False,
) -> dict[str, float]:
    """Train with a choice; the test images are only read with ``test``."""
    splits = problem.open(split)
    settings = settings_of(plan, splits, method, choice, seed)
    trained = train(splits, settings)
    found = {
        "best_step": trained.best_step,
        "validation": max(row["map"] for row in trained.history),
    }
    if not test:
        return found
    best = evaluate(trained.network, splits.test, settings)
    trained.network.load_state_dict(trained.last)
    last = evaluate(trained.network, splits.test, settings)
    return found | {
        "ap": best.map,
        "auroc": best.mean_auroc,
        "partial_auroc": best.mean_partial_auroc,
        "last_ap": last.map,
        "last_auroc": last.mean_auroc,
    }


def settings_of(
    plan: Plan, splits: ClassSplits, method: Method, choice: Choice, seed: int
) -> Settings:
    """The settings of one run: those of the plan, with what differs by method."""
    target = splits.train.target
    positives = min(plan.positives, int(target.sum()))
    others = plan.size - positives
    each = int((target == 0).sum()) / others if choice.balanced else len(target) / plan.size
    defer = max(1, round(0.8 * plan.steps / math.ceil(each)))  # as 160 of 200 epochs
    return Settings.changed(
        {
            "network": {
                "backbone": "small",
                "options": {"width": plan.width},
                "head": choice.head,
            },
            "augmentations": {"resize": plan.resize, "crop": plan.crop, "flip": True},
            "batches": {"size": plan.size, "positives": positives if choice.balanced else None},
            "objective": {
                "name": choice.objective.format(defer=defer),
                "warm_start": plan.warm_start if method.ranking else 0,
            },
            "optimizer": {
                "name": "adamw",
                "learning_rate": choice.rate,
                "weight_decay": 1e-4,
                "milestones": [max(1, round(0.75 * plan.steps))],
            },
            "training": {"steps": plan.steps, "validate_every": plan.every, "seed": seed},
        }
    )
