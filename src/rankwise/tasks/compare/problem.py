"""What all candidates have in common: the table, its parts, and what was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.data import FOLDS, DataError, Split, Table, few, folds, read_table, split
from rankwise.metrics import Comparison, Interval
from rankwise.tasks.compare import metrics as measures
from rankwise.tasks.compare.settings import Settings

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Problem:
    """A table cut into parts, and the metric that decides."""

    settings: Settings
    table: Table
    plan: Plan

    @property
    def metric(self) -> str:
        """The name of the metric that decides."""
        return self.settings.metric

    @property
    def all_rows(self) -> Rows:
        """The number of every row."""
        return np.arange(len(self.table))

    @property
    def seeds(self) -> range:
        """The seeds of the fits that are averaged."""
        return range(self.settings.seed, self.settings.seed + self.settings.seeds)

    def groups(self, rows: Rows) -> NDArray[np.int64] | None:
        """The lists of some rows, if there are lists."""
        return None if self.table.groups is None else self.table.groups[rows]

    def weight(self, rows: Rows) -> Floats | None:
        """How much some rows count, if there are weights."""
        return None if self.table.weight is None else self.table.weight[rows]

    def value(self, scores: Floats, rows: Rows, metric: str | None = None) -> float:
        """The metric (or another) of the scores of some rows."""
        name = metric or self.metric
        return measures.value(
            name, scores, self.table.target[rows], self.groups(rows), weight=self.weight(rows)
        )

    def interval(self, scores: Floats, rows: Rows) -> Interval:
        """The metric with its 95 % interval."""
        return measures.interval(
            self.metric,
            scores,
            self.table.target[rows],
            self.groups(rows),
            weight=self.weight(rows),
            seed=self.settings.seed,
        )

    def difference(self, scores: Floats, others: Floats, rows: Rows) -> Comparison:
        """The metric of the first scores minus that of the second."""
        return measures.difference(
            self.metric,
            scores,
            others,
            self.table.target[rows],
            self.groups(rows),
            weight=self.weight(rows),
            seed=self.settings.seed,
        )


def read_problem(settings: Settings) -> Problem:
    """Read and split; nothing is written yet."""
    table = read_table(
        settings.data,
        target=settings.target,
        group=settings.group,
        positive=settings.positive,
        time=settings.time,
        weight=settings.weight,
        drop=settings.drop,
        use=settings.use,
        text=settings.text,
        date_format=settings.date_format,
        graded=measures.is_graded(settings.metric),
    )
    if not table.names:
        left_out = f"; left out: {', '.join(table.left_out)} (--use takes one)"
        raise DataError(
            f"{table.path}: has no column left to learn from{left_out if table.left_out else ''}"
        )
    if table.weight is not None:
        measures.require_weights(settings.metric, table.weight)
    plan = plan_of_all if settings.repeats else plan_for
    return Problem(settings, table, plan(table, settings.seed))


REPEATS = 2


@dataclass(frozen=True, eq=False)
class Plan:
    """The three parts of the table, and how the choice is made without the last one."""

    parts: Split
    splits: tuple[tuple[Rows, Rows], ...]  # rows to fit on, rows to judge by
    tuned: int  # how many of the splits the options are tuned on; the choice sees more

    @property
    def crosses(self) -> bool:
        """Whether the choice is made by cross-validation."""
        return len(self.splits) > 1

    def one_part(self) -> Plan:
        """The same parts, with a choice by the validation part alone, which takes one fit."""
        return Plan(self.parts, ((self.parts.train, self.parts.validation),), 1)

    def words(self, splits: int) -> str:
        """How a choice by so many splits is made, for a reader."""
        if not self.crosses:
            return f"one validation part ({self.parts.kind} split)"
        repeats = f" × {splits // self.tuned}" if splits > self.tuned else ""
        return f"{self.tuned}-fold cross-validation{repeats} ({self.parts.kind} split)"

    def as_json(self) -> dict[str, Any]:
        """As a file holds it."""
        return {
            "kind": self.parts.kind,
            "train": len(self.parts.train),
            "validation": len(self.parts.validation),
            "test": len(self.parts.test),
            "choice": self.words(len(self.splits)),
        }


def plan_for(table: Table, seed: int) -> Plan:
    """60 % to train on, 20 % to choose by, 20 % to test on.

    Where the validation part has fewer than 100 positives (lists with one, if there are groups),
    one part would choose by luck: the choice is then made by 5-fold cross-validation of the first
    two parts, twice. Options are tuned on the first five folds, candidates are compared on all
    ten (on the first five where the time is up before). With a time column there is always one
    part, since folds would learn from the future.
    """
    parts = split(table, seed=seed)
    if table.time is not None or not few(table, parts.validation):
        return Plan(parts, ((parts.train, parts.validation),), 1)
    rows = parts.development
    count = _count(table, rows)
    pairs = [
        pair
        for repeat in range(REPEATS)
        for pair in folds(table, rows, count=count, seed=seed * REPEATS + repeat + 1)
    ]
    return Plan(parts, tuple(pairs), count)


def plan_of_all(table: Table, seed: int) -> Plan:
    """All rows to learn from, chosen by cross-validation, and none left to test on."""
    return _inside(table, np.arange(len(table)), np.arange(0), seed)


def plans_of_folds(table: Table, seed: int, repeats: int) -> list[Plan]:
    """Repeated cross-validation of all rows: every fold is a test part once a repeat.

    Within the other folds the choice is made by cross-validation again (nested), so that a test
    part has no say in the options that it tests.
    """
    rows = np.arange(len(table))
    return [
        _inside(table, others, tested, seed)
        for repeat in range(repeats)
        for others, tested in folds(
            table, rows, count=_count(table, rows), seed=seed * repeats + repeat + 1
        )
    ]


def _inside(table: Table, rows: Rows, test: Rows, seed: int) -> Plan:
    count = _count(table, rows)
    pairs = folds(table, rows, count=count, seed=seed)
    kind = "stratified" if table.groups is None else "grouped"
    return Plan(Split(*pairs[0], test, kind), tuple(pairs), count)


def _count(table: Table, rows: Rows) -> int:
    """Folds, each with two positives at least."""
    return max(2, min(FOLDS, units(table, rows) // 2))


def units(table: Table, rows: Rows) -> int:
    """Positives, or lists with one: what folds are dealt, and what a value rests on."""
    positive = table.target[rows] > 0
    if table.groups is None:
        return int(positive.sum())
    return len(np.unique(table.groups[rows][positive]))
