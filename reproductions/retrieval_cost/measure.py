"""The study: cost of every batch, choice by validation, then the test; every outcome is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

from rankwise.data import DataError
from rankwise.data.images.image_set import fingerprint
from reproductions.frame import Runs, Setting
from reproductions.retrieval.methods import Method
from reproductions.retrieval_cost.benches import (
    Bench,
    FromScratch,
    OnFeatures,
    Trial,
    scratch_precision,
)
from reproductions.retrieval_cost.plan import SETS, Plan
from reproductions.retrieval_cost.problems import feature_pool, pool_of
from reproductions.retrieval_cost.training import cost, train

KEPT = ("feature_seconds", "scratch_seconds", "least_steps", "memory_mb", "batches", "chunk",
        "timed", "validations", "dimension", "dropout", "width", "rates")  # fmt: skip
"""Fields of the plan that the outcomes depend on."""


@dataclass(frozen=True)
class Cost:
    """What a step of a batch costs, and whether that fits the shares of time and memory."""

    bench: str
    method: str
    batch: int
    images: int  # that the training classes can fill it with
    seconds: float
    megabytes: float
    fits: bool


@dataclass(frozen=True)
class Cell:
    """One training of a method with the chosen settings, and its test."""

    bench: str
    method: str
    seed: int
    objective: str
    rate: float
    batch: int
    steps: int
    seconds: float
    megabytes: float
    validation: float
    map: float
    hit: float


@dataclass(frozen=True)
class Measured:
    """All that was measured; ``stopped`` where ``max_minutes`` left something out."""

    costs: list[Cost] = field(default_factory=list)
    tries: list[dict[str, Any]] = field(default_factory=list)
    chosen: dict[tuple[str, str], Trial] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    stopped: bool = False


class OutOfTimeError(Exception):
    """Raised where a training would start after ``max_minutes``."""


class Limited:
    """Runs that start no new training after a time of the wall clock."""

    def __init__(self, runs: Runs, minutes: float) -> None:
        self.runs, self.end = runs, time.monotonic() + 60 * minutes if minutes else None

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        """Return a kept outcome, or make it if there is time."""
        return self.runs.get(name, partial(self._made, make))

    def _made(self, make: Callable[[], Any]) -> Any:
        if self.end is not None and time.monotonic() > self.end:
            raise OutOfTimeError
        return make()


def collect(plan: Plan, setting: Setting) -> Measured:
    """Measure set after set: first the costs, then the choice, then the test classes."""
    runs = Limited(Runs(setting.folder, asked(plan, setting)), plan.max_minutes)
    found = Measured()
    try:
        for bench in _benches(plan, setting):
            Measurer(bench, runs, found, setting).measure()
    except OutOfTimeError:
        return replace(found, stopped=True)
    return found


@dataclass(frozen=True)
class Measurer:
    """Measures one bench."""

    bench: Bench
    runs: Limited
    found: Measured
    setting: Setting

    def measure(self) -> None:
        """Do the stages that were asked for; a stage ends for all methods before the next."""
        plan = self.bench.plan
        affordable = {m: self._batch(m) for m in self._each(plan.compared, "cost")}
        if not plan.does("choose"):
            return
        for method in self._each(plan.compared, "choice"):
            chosen = self._chosen(method, affordable[method])
            self.found.chosen[self.bench.name, method.name] = chosen
        if not plan.does("test"):
            return
        first = self.setting.seed
        pairs = list(product(range(first, first + plan.seeds), plan.compared))
        for seed, method in self._each(pairs, "test"):
            chosen = self.found.chosen[self.bench.name, method.name]
            self.found.cells.append(self._tested(replace(chosen, seed=seed)))

    def _each(self, work: Sequence[Any], doing: str) -> Iterator[Any]:
        yield from self.setting.track(work, f"{self.bench.name}, {doing}")

    def _batch(self, method: Method) -> int:
        """The largest batch that is affordable; none larger than one that is not is tried."""
        plan, seed, largest = self.bench.plan, self.setting.seed, self.bench.plan.batches[0]
        sizes: list[int] = []
        for batch in plan.batches:
            classes, per_class = self.bench.shape(batch, seed)
            if classes * per_class in sizes:  # the training images fill no larger one
                break
            sizes.append(classes * per_class)
            trial = Trial(method, method.tries[0], plan.rates[0], batch, seed)
            spent = self.runs.get(self._name(trial, "cost"), partial(cost, self.bench, trial))
            fits = (
                spent["seconds"] * plan.least_steps <= self.bench.seconds
                and spent["megabytes"] <= plan.memory_mb
            )
            self.found.costs.append(
                Cost(self.bench.name, method.name, batch, sizes[-1], **spent, fits=fits)
            )
            if not fits:
                break
            largest = batch
        return largest

    def _chosen(self, method: Method, batch: int) -> Trial:
        """The setting and rate with the best validation of the first seed."""
        plan, worth = self.bench.plan, {}
        for objective, rate in product(method.tries, plan.rates):
            trial = Trial(method, objective, rate, batch, self.setting.seed)
            kept = self.runs.get(self._name(trial, "try"), partial(train, self.bench, trial))
            worth[trial] = kept["validation"]
            self.found.tries.append(
                {"bench": self.bench.name, "method": method.name, "objective": objective,
                 "rate": rate, "batch": batch, "validation": kept["validation"]}
            )  # fmt: skip
        best = max(worth, key=lambda trial: worth[trial])
        words = {"objective": best.objective, "rate": best.rate, "batch": batch}
        # In the run folder before any test class is read; a later run must choose the same.
        name = f"{self.bench.name} / {method.name} / chosen"
        kept = self.runs.get(name, lambda: words)
        if kept != words:
            raise DataError(
                f"out must be a new folder: {name} is {kept} in runs.json, and validation now "
                f"chooses {words}"
            )
        return best

    def _tested(self, trial: Trial) -> Cell:
        make = partial(train, self.bench, trial, test=True)
        kept = self.runs.get(self._name(trial, "test"), make)
        costs = [c for c in self.found.costs if c.bench == self.bench.name]
        own = next(c for c in costs if (c.method, c.batch) == (trial.method.name, trial.batch))
        return Cell(
            bench=self.bench.name,
            method=trial.method.name,
            seed=trial.seed,
            objective=trial.objective,
            rate=trial.rate,
            batch=own.images,
            megabytes=own.megabytes,
            **{name: kept[name] for name in ("steps", "seconds", "validation", "map", "hit")},
        )

    def _name(self, trial: Trial, part: str) -> str:
        place = f"{self.bench.name} / {trial.method.name} / batch {trial.batch}"
        return f"{place} / {trial.objective} {trial.rate:g} / seed {trial.seed} / {part}"


def _benches(plan: Plan, setting: Setting) -> Iterator[Bench]:
    """The data sets and settings that were asked for; features are computed when needed."""
    pools = [pool_of(problem) for problem in plan.problems]
    for number, name in enumerate(SETS):
        problem, pool = plan.problems[number % 2], pools[number % 2]
        if name not in plan.sets:
            continue
        if name.endswith("-scratch"):
            yield FromScratch(name, plan, pool)
            continue
        file = f"features_{name.partition('-')[0]}.npz"
        path = None if setting.folder is None else setting.folder / file
        assert plan.extractor is not None
        assert plan.extractor_views is not None
        features = feature_pool(problem, pool, plan.extractor, plan.extractor_views, path)
        yield OnFeatures(name, plan, pool, features)


def asked(plan: Plan, setting: Setting) -> dict[str, Any]:
    """Return what the runs depend on apart from their names."""
    data = [[fingerprint(getattr(problem.splits, part)) for part in ("train", "test")]
            for problem in plan.problems]  # fmt: skip
    kept = {name: getattr(plan, name) for name in KEPT}
    return {"data": data, "seed": setting.seed, "precision": scratch_precision(), **kept}
