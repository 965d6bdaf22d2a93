"""All metrics of a column of scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.data import DataError, Table, read_table
from rankwise.metrics import Interval
from rankwise.tasks.compare.judging import every_metric, interval, is_graded, named

__all__ = ["Evaluated", "evaluate_scores"]


@dataclass(frozen=True)
class Evaluated:
    """What scores are worth, and on how many rows that rests."""

    path: Path
    rows: int
    positives: int
    lists: int | None  # with groups
    left_out: int  # lists that have one class only, and so no value
    metrics: dict[str, Interval]
    graded_only: int = 0  # of those left out: all positive, which a metric of relevances takes

    @property
    def caption(self) -> str:
        """The size of the data in words."""
        words = f"{self.rows} rows, {self.positives} positives"
        if self.lists is None:
            return words
        left_out = f" ({self.left_out} of one class only, left out)" if self.left_out else ""
        taken = [name for name in self.metrics if is_graded(name)] if self.graded_only else []
        more = f"; {', '.join(taken)}: over {self.graded_only} more, all positive" if taken else ""
        return f"{words}, mean over {self.lists - self.left_out} lists{left_out}{more}"

    def as_json(self) -> dict[str, Any]:
        """As a file holds it; what is not defined is null."""
        numbers = {
            name: {
                "value": _number(each.value),
                "low": _number(each.low),
                "high": _number(each.high),
                "method": each.method,
            }
            for name, each in self.metrics.items()
        }
        return {
            "data": str(self.path),
            "rows": self.rows,
            "positives": self.positives,
            "lists": self.lists,
            "lists_left_out": self.left_out,
            "metrics": numbers,
        }


def evaluate_scores(
    path: Path,
    *,
    target: str,
    score: str,
    group: str | None = None,
    positive: str | None = None,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
) -> Evaluated:
    """Every metric that suits the data, or those named, with 95 % intervals.

    The target may hold relevances where all metrics named take them.
    """
    for name in metrics or ():
        named(name, grouped=group is not None)
    graded = bool(metrics) and all(map(is_graded, metrics or ()))
    table = read_table(
        path, target=target, score=score, group=group, positive=positive, graded=graded
    )
    names = metrics or every_metric(len(table), grouped=group is not None, graded=table.graded)
    scores = table.score
    if scores is None:
        raise DataError(f"{path}: there are no scores in it")
    found = {name: interval(name, scores, table.target, table.groups, seed=seed) for name in names}
    lists, left_out, whole = _lists(table)
    return Evaluated(table.path, len(table), table.positives, lists, left_out, found, whole)


def _lists(table: Table) -> tuple[int | None, int, int]:
    """How many lists there are, how many have nothing to rank, how many of these are positive."""
    if table.groups is None:
        return None, 0, 0
    sizes = np.bincount(table.groups)
    positives = np.bincount(table.groups, weights=table.target > 0)
    empty = int((positives == 0).sum())
    whole = 0 if table.graded else int((positives == sizes).sum())
    return len(sizes), empty + whole, whole


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
