"""What all candidates have in common: the table, its parts, and what was asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwise.data import DataError, Table, read_table
from rankwise.metrics import Comparison, Interval
from rankwise.tasks.compare import measures
from rankwise.tasks.compare.plan import Plan, plan_for, plan_of_all
from rankwise.tasks.compare.settings import Settings

__all__ = ["Problem", "read_problem"]

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
