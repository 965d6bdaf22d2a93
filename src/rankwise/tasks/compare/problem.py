"""The learning problem that all candidates share: the table, its splits, the metric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rankwise.data import DataError, Split, Table, folds, read_table, split
from rankwise.data._disk_table import read_disk_table
from rankwise.data.disk import DiskFeatures
from rankwise.data.splits import FEW, FOLDS, count_positives, rarest_count
from rankwise.tasks.compare.classes import ClassTruth, require_for_classes
from rankwise.tasks.compare.metrics import (
    Estimate,
    Floats,
    Truth,
    is_graded,
    require_two_classes,
    require_weights,
)
from rankwise.tasks.compare.operating import daily_rows
from rankwise.tasks.compare.settings import Settings

Rows = NDArray[np.int64]

_COLUMNS = {"target", "group", "positive", "time", "weight", "drop", "use", "text", "date_format"}
_PILOT_ROWS, _PILOT_VALUES = 32_000, 1 << 23  # in memory while costs are estimated
REPEATS = 2  # of cross-validation, where the choice is made by folds


@dataclass(frozen=True, eq=False)
class Problem:
    """A table split into parts, and the metric that decides."""

    settings: Settings
    table: Table
    plan: Plan

    @property
    def metric(self) -> str:
        """The name of the metric that decides."""
        return self.settings.metric

    @property
    def seeds(self) -> range:
        """The seeds of the fits that are averaged."""
        return range(self.settings.seed, self.settings.seed + self.settings.seeds)

    def truth(self, rows: Rows) -> Truth:
        """Return what scores of some rows are compared with."""
        table = self.table
        weight = None if table.weight is None else table.weight[rows]
        if table.classes:
            return ClassTruth(table.target[rows], None, weight, len(table.classes))
        groups = None if table.groups is None else table.groups[rows]
        return Truth(table.target[rows], groups, weight)

    def value(self, scores: Floats, rows: Rows, metric: str | None = None) -> float:
        """Return the metric (or another) of the scores of some rows."""
        return self.truth(rows).value(metric or self.metric, scores)

    def estimate(self, scores: Floats, rows: Rows) -> Estimate:
        """Return the metric with its 95 % interval."""
        found = self.truth(rows).interval(self.metric, scores, seed=self.settings.seed)
        return Estimate(found.value, found.low, found.high)

    def difference(self, scores: Floats, others: Floats, rows: Rows) -> Estimate:
        """Return the metric of the first scores minus that of the second."""
        found = self.truth(rows).difference(self.metric, scores, others, seed=self.settings.seed)
        return Estimate(found.difference, found.low, found.high, found.p_value)

    def sample(self, rows: Rows, share: float, least: int, rng: np.random.Generator) -> Rows:
        """Draw a share of the rows of each class, or of the lists; of each at least some."""
        if share >= 1:
            return rows
        truth = self.truth(rows)
        if truth.groups is not None:
            ids, which = np.unique(truth.groups, return_inverse=True)
            return rows[rng.permutation(len(ids))[which] < max(least, round(share * len(ids)))]
        classes = [rows[truth.target > 0], rows[truth.target <= 0]]
        if self.table.classes:
            classes = [rows[truth.target == number] for number in range(len(self.table.classes))]
        drawn = [rng.permutation(c)[: max(least, round(share * len(c)))] for c in classes]
        return np.sort(np.concatenate(drawn))


def pilot_problem(problem: Problem, count: int) -> Problem:
    """Return a problem whose fits show what they cost: where rows are on disk, some in memory.

    A few rows of all those on disk would take as long to read as the whole table. There are fewer
    than ``count`` where the table has many columns.
    """
    table, every = problem.table, problem.plan.splits[0][0]
    if not isinstance(table.features, DiskFeatures):
        return problem
    rng = np.random.default_rng(problem.settings.seed)
    count = min(count, max(_PILOT_ROWS, _PILOT_VALUES // len(table.names)))
    rows = problem.sample(every, count / len(every), FEW, rng)
    columns = {name: getattr(table, name) for name in ("target", "groups", "time", "weight")}
    some = {name: column[rows] for name, column in columns.items() if column is not None}
    in_memory = replace(table, features=table.features[rows].frame(), file_rows=None, **some)
    own = np.arange(len(rows))
    parts = Split(own, own[:0], own[:0], problem.plan.parts.kind)
    return replace(problem, table=in_memory, plan=Plan(parts, ((own, own),), 1))


def read_problem(settings: Settings) -> Problem:
    """Read the table and split it; nothing is written yet."""
    asked = settings.model_dump(include=_COLUMNS)
    read = read_disk_table if settings.out_of_core else partial(read_table, several=True)
    table = read(settings.data, **asked, graded=is_graded(settings.metric))
    if table.classes:
        require_for_classes(settings, table)
    else:
        require_two_classes(settings.metric)
    if not table.names:
        left_out = f"; left out: {', '.join(table.left_out)} (--use takes one)"
        raise DataError(
            f"{table.path}: has no column left to learn from{left_out if table.left_out else ''}"
        )
    if not table.classes:
        require_weights(settings.metric, table.weight)
    if settings.threshold is not None:  # before the training rather than after it
        daily_rows([settings.threshold], table, settings.rows_per_day)
    if not settings.repeats:
        return Problem(settings, table, plan_for(table, settings.seed))
    every = np.arange(len(table))  # the folds test: no row is left out of the final fit
    return Problem(settings, table, _inside(table, every, every[:0], settings.seed))


@dataclass(frozen=True, eq=False)
class Plan:
    """The three parts of the table, and how the choice is made without the last one."""

    parts: Split
    splits: tuple[tuple[Rows, Rows], ...]  # rows to fit on, rows to evaluate on
    tuned: int  # number of splits that options are tuned on; the choice uses all

    @property
    def cross_validated(self) -> bool:
        """Whether the choice is made by cross-validation."""
        return len(self.splits) > 1

    def single_split(self) -> Plan:
        """Return the same parts with a choice by the validation part alone, one fit each."""
        return Plan(self.parts, ((self.parts.train, self.parts.validation),), 1)

    def describe(self, splits: int) -> str:
        """Return how a choice by a number of splits is made, for a reader."""
        if not self.cross_validated:
            return f"one validation part ({self.parts.kind} split)"
        repeats = f" × {splits // self.tuned}" if splits > self.tuned else ""
        return f"{self.tuned}-fold cross-validation{repeats} ({self.parts.kind} split)"

    def as_json(self) -> dict[str, str | int]:
        """Return the sizes of the parts and how the choice is made, for ``config.json``."""
        sizes = {name: len(getattr(self.parts, name)) for name in ("train", "validation", "test")}
        return {"kind": self.parts.kind, **sizes, "choice": self.describe(len(self.splits))}


def plan_for(table: Table, seed: int) -> Plan:
    """Split 60 % to train on, 20 % to choose by, 20 % to test on.

    Where the validation part has fewer than 100 positives (lists with one, if there are groups),
    one part would choose by luck: the choice is then made by 5-fold cross-validation of the first
    two parts, twice. Options are tuned on the first five folds, candidates are compared on all
    ten (on the first five where the time is up before). With a time column there is always one
    part, since folds would learn from the future.
    """
    parts = split(table, seed=seed)
    if table.time is not None or count_positives(table, parts.validation) >= FEW:
        return Plan(parts, ((parts.train, parts.validation),), 1)
    seeds = range(seed * REPEATS + 1, (seed + 1) * REPEATS + 1)
    pairs = _folds(table, parts.development, seeds)
    return Plan(parts, tuple(pairs), len(pairs) // REPEATS)


def plans_of_folds(table: Table, seed: int, repeats: int) -> list[Plan]:
    """Plan repeated cross-validation of all rows: every fold is a test part once per repeat.

    Within the other folds the choice is made by cross-validation again (nested), so that a test
    part has no influence on the options that it tests.
    """
    seeds = range(seed * repeats + 1, (seed + 1) * repeats + 1)
    pairs = _folds(table, np.arange(len(table)), seeds)
    return [_inside(table, others, tested, seed) for others, tested in pairs]


def _inside(table: Table, rows: Rows, test: Rows, seed: int) -> Plan:
    pairs = _folds(table, rows, range(seed, seed + 1))
    kind = "stratified" if table.groups is None else "grouped"
    return Plan(Split(*pairs[0], test, kind), tuple(pairs), len(pairs))


def _folds(table: Table, rows: Rows, seeds: range) -> list[tuple[Rows, Rows]]:
    """Return folds of some rows, each with at least two positives, drawn once per seed."""
    count = max(2, min(FOLDS, rarest_count(table, rows) // 2))
    return [pair for seed in seeds for pair in folds(table, rows, count=count, seed=seed)]
